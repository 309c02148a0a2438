// Package all lists the hooks that come with hook-worker.
package all

import (
	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/datetime"
)

// Builtins are the builtins by the names that worker files use. The map is the
// caller's.
func Builtins() map[string]builtin.Builtin {
	return map[string]builtin.Builtin{
		"date-time": datetime.Builtin,
	}
}
