// Package all lists the hooks that come with hook-worker.
package all

import (
	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/builtin/datetime"
	"github.com/hookrouter/hookrouter/internal/builtin/eventlog"
	"github.com/hookrouter/hookrouter/internal/builtin/gitstatus"
	"github.com/hookrouter/hookrouter/internal/builtin/limits"
	"github.com/hookrouter/hookrouter/internal/builtin/linterfeedback"
	"github.com/hookrouter/hookrouter/internal/builtin/notify"
	"github.com/hookrouter/hookrouter/internal/builtin/progress"
	"github.com/hookrouter/hookrouter/internal/builtin/progressmonitor"
	"github.com/hookrouter/hookrouter/internal/builtin/redaction"
	"github.com/hookrouter/hookrouter/internal/builtin/sessioncompletion"
	"github.com/hookrouter/hookrouter/internal/builtin/sessioncontext"
	"github.com/hookrouter/hookrouter/internal/builtin/sessionlogger"
	"github.com/hookrouter/hookrouter/internal/builtin/sessionnaming"
	"github.com/hookrouter/hookrouter/internal/builtin/stoploop"
	"github.com/hookrouter/hookrouter/internal/builtin/suggesttool"
	"github.com/hookrouter/hookrouter/internal/builtin/tododisplay"
	"github.com/hookrouter/hookrouter/internal/builtin/todoreminder"
	"github.com/hookrouter/hookrouter/internal/guards/approvalpolicy"
	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/flowguard"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
)

// Builtins returns the builtins by the names that worker files use. The caller may change the map.
func Builtins() map[string]builtin.Builtin {
	return map[string]builtin.Builtin{
		"approval-policy":    approvalpolicy.Builtin,
		"command-guard":      commandguard.Builtin,
		"date-time":          datetime.Builtin,
		"event-log":          eventlog.Builtin,
		"flow-guard":         flowguard.Builtin,
		"git-status":         gitstatus.Builtin,
		"limits":             limits.Builtin,
		"linter-feedback":    linterfeedback.Builtin,
		"notify":             notify.Builtin,
		"path-guard":         pathguard.Builtin,
		"progress":           progress.Builtin,
		"progress-monitor":   progressmonitor.Builtin,
		"redaction":          redaction.Builtin,
		"session-completion": sessioncompletion.Builtin,
		"session-context":    sessioncontext.Builtin,
		"session-logger":     sessionlogger.Builtin,
		"session-naming":     sessionnaming.Builtin,
		"stop-loop":          stoploop.Builtin,
		"suggest-tool":       suggesttool.Builtin,
		"todo-display":       tododisplay.Builtin,
		"todo-reminder":      todoreminder.Builtin,
	}
}
