package commandguard

import (
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// removal applies the built-in rules to a tool that deletes or moves files, as if it were rm or mv.
func (p policy) removal(tool events.Tool) decision.Finding {
	allow := decision.Finding{Decision: decision.Allow}
	if !p.defaults || tool.Class != events.ClassFile {
		return allow
	}
	var c shell.Command
	switch tool.Operation {
	case events.OperationDelete:
		c.Words = literal("rm", "-r", "--")
	case events.OperationMove:
		c.Words = literal("mv", "--")
	default:
		return allow
	}
	if tool.Cwd != "" {
		c.Dirs = []string{tool.Cwd}
	}
	c.Words = append(c.Words, literal(tool.Paths...)...)
	if r, found := builtIn(c); found == shell.Yes {
		return decision.Finding{Decision: r.decision, Reason: r.reason, Rule: decision.BuiltIn(r.reason)}
	}
	return allow
}

func literal(texts ...string) (words []shell.Word) {
	for _, text := range texts {
		words = append(words, shell.Word{Text: text, Known: true})
	}
	return words
}
