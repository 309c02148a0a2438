package progressmonitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults of [Options], and limits of a session's state.
const (
	DefaultReadThreshold     = 30
	DefaultSameFileThreshold = 3
	DefaultWarningInterval   = 15
	DefaultShowEvery         = 10

	maxFiles = 32  // files whose reads are counted
	maxPath  = 200 // characters of a path that are stored and shown
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// ReadThreshold is the number of reads without a write after which the agent is reminded; 0 means
	// [DefaultReadThreshold], a negative number never.
	ReadThreshold int `json:"read_threshold"`
	// SameFileThreshold is the number of reads of one file after which it is reminded; 0 means
	// [DefaultSameFileThreshold], a negative number never.
	SameFileThreshold int `json:"same_file_threshold"`
	// WarningInterval is the number of further reads after which it is reminded again, more urgently; 0
	// means [DefaultWarningInterval].
	WarningInterval int `json:"warning_interval"`
	// ShowEvery is the number of reads and writes after which the user is shown how many there
	// were; 0 means [DefaultShowEvery], a negative number never.
	ShowEvery int `json:"show_every"`
	// Silent sends no message to the user.
	Silent bool `json:"silent"`
	// Private keeps the counts from the channel session.metadata, which all who may ask
	// for contributions can read.
	Private bool `json:"private"`
}

// Builtin is progress-monitor.
var Builtin = builtin.Of("Tells an agent that reads and searches and changes nothing.",
	chain.Registration{Events: []string{events.PromptSubmit, events.ToolPost, events.SessionEnd}, Priority: 50}, New)

// Progress is the state of a session, parts of which are contributed.
type Progress struct {
	Session string `json:"session_id"`
	Reads   int    `json:"reads"` // since the last write or prompt
	Writes  int    `json:"writes"`
	Warned  int    `json:"warned,omitempty"` // warnings since then
	Read    int    `json:"read,omitempty"`   // in all
	// Files are those read since then, the longest ago first.
	Files []file `json:"files,omitempty"`
}

type file struct {
	Path  string `json:"path"`
	Reads int    `json:"reads"`
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	if o.WarningInterval < 0 {
		return kind.Hook{}, kind.At("/warning_interval", "must be 1 or more, not %d", o.WarningInterval)
	}
	o.ReadThreshold = cmp.Or(o.ReadThreshold, DefaultReadThreshold)
	o.SameFileThreshold = cmp.Or(o.SameFileThreshold, DefaultSameFileThreshold)
	o.WarningInterval = cmp.Or(o.WarningInterval, DefaultWarningInterval)
	o.ShowEvery = cmp.Or(o.ShowEvery, DefaultShowEvery)
	states, log := builtin.StateOf[Progress](s, "progress-monitor"), builtin.LogOf(s)
	hook := kind.Hook{Handler: builtin.PerSession(states, log, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if ev.Name == events.PromptSubmit {
			return chain.Result{}, states.Update(ctx, builtin.Owner(ev), (*Progress).restart)
		}
		return o.count(ctx, states, ev)
	})}
	if !o.Private {
		hook.Contributors = map[string]kind.Contributor{builtin.SessionMetadata: builtin.Contribution(states, Progress.public)}
	}
	return hook, nil
}

// public returns the contributed part of the state, which does not include file names.
func (p Progress) public() any {
	return map[string]any{"session_id": p.Session, "progress": map[string]int{"reads_since_write": p.Reads, "writes": p.Writes}}
}

// count counts a tool call, and warns when a threshold is reached.
func (o Options) count(ctx context.Context, states hookstate.Sessions[Progress], ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	tool, _ := data.Tool(ev.Name)
	reads, writes := sort(tool)
	if ev.Session == "" || !reads && !writes || builtin.Failed(data) {
		return chain.Result{}, nil
	}
	var injection, notice, shown string
	err = states.Update(ctx, builtin.Owner(ev), func(p *Progress) bool {
		injection, notice, shown = "", "", ""
		p.Session = ev.Session
		if writes {
			p.Writes++
			p.restart()
			shown = o.shown(p)
			return true
		}
		p.Reads++
		p.Read++
		shown = o.shown(p)
		again := p.readAgain(tool)
		switch {
		case o.ReadThreshold > 0 && p.Reads >= o.ReadThreshold+p.Warned*o.WarningInterval:
			p.Warned++
			injection = fmt.Sprintf("%s: %d reads and searches, and nothing written. %s", urgency(p.Warned), p.Reads, instruction(p.Warned))
			notice = fmt.Sprintf("The agent has read and searched %d times and written nothing since", p.Reads)
		case o.SameFileThreshold > 0 && again.Reads == o.SameFileThreshold:
			injection = fmt.Sprintf("Note: you have read %s %d times since your last change. What it says is known to you: use it, rather than reading it again.",
				again.Path, again.Reads)
		}
		return true
	})
	if err != nil || injection == "" {
		return chain.Result{UserMessage: shown}, err
	}
	result := chain.Injection(injection)
	result.Ephemeral, result.AppendToLastToolResult, result.SuppressOutput = true, true, true
	if !o.Silent && notice != "" {
		result.UserMessage, result.UserMessageLevel = notice, chain.LevelWarning
	}
	return result, nil
}

// shown returns the progress message for the user; empty if none is due.
func (o Options) shown(p *Progress) string {
	if o.Silent || o.ShowEvery < 0 || (p.Read+p.Writes)%o.ShowEvery != 0 {
		return ""
	}
	return fmt.Sprintf("Progress: %d reads and searches, %d changes", p.Read, p.Writes)
}

// sort reports whether a tool only reads, or writes. Other tools do neither.
func sort(t events.Tool) (reads, writes bool) {
	switch t.Operation {
	case events.OperationRead, events.OperationList, events.OperationSearch, events.OperationFetch:
		return true, false
	case events.OperationWrite, events.OperationEdit, events.OperationDelete, events.OperationMove:
		return false, true
	}
	return t.Class == events.ClassWeb, false
}

// restart resets the counts since the last write or prompt. It reports whether there were any
// reads.
func (p *Progress) restart() (changed bool) {
	changed = p.Reads > 0
	p.Reads, p.Warned, p.Files = 0, 0, nil
	return changed
}

// readAgain counts a read of each of the tool's files, and returns the one with the most reads.
func (p *Progress) readAgain(tool events.Tool) (most file) {
	if tool.Operation != events.OperationRead {
		return most
	}
	for _, path := range tool.Paths[:min(len(tool.Paths), maxFiles)] {
		read := file{Path: builtin.Line(path, maxPath)}
		if i := slices.IndexFunc(p.Files, func(f file) bool { return f.Path == read.Path }); i >= 0 {
			read = p.Files[i]
			p.Files = slices.Delete(p.Files, i, i+1)
		}
		read.Reads++
		p.Files = append(p.Files, read)
		if read.Reads > most.Reads {
			most = read
		}
	}
	p.Files = p.Files[max(len(p.Files)-maxFiles, 0):]
	return most
}

func urgency(warnings int) string { return []string{"Note", "Warning", "Urgent"}[min(warnings, 3)-1] }

func instruction(warnings int) string {
	return []string{
		"Begin with what you know: a first version shows what is still missing.",
		"Write something now, be it a skeleton, or tell the user what keeps you from it.",
		"Stop reading. Change something now, or end your turn and tell the user what you lack.",
	}[min(warnings, 3)-1]
}
