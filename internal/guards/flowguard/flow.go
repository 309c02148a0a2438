package flowguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// flow is what a tool call brings into its session, and takes out of it.
type flow struct {
	secret, untrusted bool // what comes in
	egress            shell.Found
	fetch             bool // goes out too, and says no more than which page it wants
	write             bool // what others rely on
	same              bool // what comes in may go out in the same call
	what              string
}

func (f flow) labels() (all []string) {
	if f.secret {
		all = append(all, SecretRead)
	}
	if f.untrusted {
		all = append(all, UntrustedInput)
	}
	return all
}

// flowOf is the flow of a tool call.
func (g guard) flowOf(ev events.Event, tool events.Tool) flow {
	if f, listed := g.listed(tool); listed {
		return f
	}
	switch tool.Class {
	case events.ClassShell:
		return g.ofShell(ev, tool)
	case events.ClassFile:
		if !tool.Known {
			break
		}
		f := flow{secret: g.secrets(ev, tool), untrusted: g.foreign(ev, tool)}
		g.writes(&f, ev, tool)
		return f
	case events.ClassWeb:
		return flow{untrusted: true, fetch: true, what: "sends an address or a question to the web"}
	case events.ClassMCP:
		return ofMCP(tool)
	case events.ClassAgent, events.ClassTodo:
		return flow{}
	}
	if tool.Known { // the calls that it holds are judged themselves
		return flow{}
	}
	return flow{untrusted: true, egress: shell.Yes, what: "is a tool that the policy does not know"}
}

// writes notes whether a call writes outside of the project, maybe to where other machines read it.
func (g guard) writes(f *flow, ev events.Event, tool events.Tool) {
	if !g.outside(ev, tool) {
		return
	}
	f.write, f.what = true, "writes outside of the project"
	if f.egress == shell.No && g.synced(ev, tool) {
		f.egress, f.what = shell.Maybe, "writes to a directory that other machines may read"
	}
}

// listed is the flow of a tool that the options name.
func (g guard) listed(tool events.Tool) (f flow, found bool) {
	trusted := g.Tools.Trusted.Match(tool)
	f.untrusted = g.Tools.Untrusted.Match(tool) && !trusted
	f.secret = g.Tools.Secret.Match(tool)
	f.write = g.Tools.Write.Match(tool)
	f.what = "changes what others rely on"
	if g.Tools.Egress.Match(tool) {
		f.egress, f.what = shell.Yes, "sends something out"
	}
	return f, trusted || f.untrusted || f.secret || f.write || f.egress == shell.Yes
}

// Words in the names of tools of MCP servers: those that begin one that only reads, and
// those that no such tool has.
var (
	reading = strings.Fields("get list search read find fetch view show describe lookup resolve query-docs")
	acting  = strings.Fields("delete remove purge drop replace create update write send post push put set add edit exec execute run sql invoke call upload publish share invite")
	private = strings.Fields("secret secrets env credential credentials token tokens password passwords passwd private apikey")
)

// ofMCP is the flow of a tool of an MCP server, by its name: what it returns is text of
// others, and where it may do more than read, its input goes out.
func ofMCP(tool events.Tool) flow {
	words := strings.FieldsFunc(strings.ToLower(tool.ServerTool), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	among := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	f := flow{untrusted: true, secret: among(private), egress: shell.Maybe, what: "asks an MCP server"}
	if !among(reading) || among(acting) || tool.Command != "" || tool.Partial {
		f.egress, f.what = shell.Yes, "gives an MCP server something to do"
	}
	return f
}
