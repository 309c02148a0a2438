// Package all lists the hooks that come with hook-worker.
package all

import (
	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/approvalpolicy"
	"github.com/hookrouter/hookrouter/internal/builtin/commandguard"
	"github.com/hookrouter/hookrouter/internal/builtin/datetime"
	"github.com/hookrouter/hookrouter/internal/builtin/pathguard"
	"github.com/hookrouter/hookrouter/internal/builtin/redaction"
)

// Builtins are the builtins by the names that worker files use. The map is the
// caller's.
func Builtins() map[string]builtin.Builtin {
	return map[string]builtin.Builtin{
		"approval-policy": approvalpolicy.Builtin,
		"command-guard":   commandguard.Builtin,
		"date-time":       datetime.Builtin,
		"path-guard":      pathguard.Builtin,
		"redaction":       redaction.Builtin,
	}
}
