package flowguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// flow describes the data that a tool call brings into its session and takes out of it.
type flow struct {
	secret, untrusted bool // data that comes in
	egress            shell.Found
	fetch             bool // it sends only a request for a page
	write             bool // it changes something that others rely on
	same              bool // incoming data may be sent out by the same call
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

// flowOf returns the flow of a tool call.
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
	if tool.Known { // calls nested in it are evaluated separately
		return flow{}
	}
	return flow{untrusted: true, egress: shell.Yes, what: "is a tool that the policy does not know"}
}

// writes records whether a call writes outside the project, and whether other machines may read
// that.
func (g guard) writes(f *flow, ev events.Event, tool events.Tool) {
	if !g.outside(ev, tool) {
		return
	}
	f.write, f.what = true, "writes outside of the project"
	if f.egress == shell.No && g.synced(ev, tool) {
		f.egress, f.what = shell.Maybe, "writes to a directory that other machines may read"
	}
}

// listed returns the flow of a tool that the options name.
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

// Words in the names of MCP tools: of tools that only read, of tools that act, and of tools that
// return secrets.
var (
	reading = strings.Fields("get list search read find fetch view show describe lookup resolve query-docs")
	acting  = strings.Fields("delete remove purge drop replace create update write send post push put set add edit exec execute run sql invoke call upload publish share invite")
	private = strings.Fields("secret secrets env credential credentials token tokens password passwords passwd private apikey")
)

// ofMCP returns the flow of an MCP tool, judging by its name: its result is third-party text, and
// if it may do more than read, its input is sent out.
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
