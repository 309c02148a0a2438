package notifier

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options says how the desktop is reached.
type Options struct {
	// LookPath finds a program; nil means [exec.LookPath].
	LookPath func(name string) (string, error)
}

// Registration is how the hook asks to be called: when the user is needed, and
// when the agent is done.
func Registration() chain.Registration {
	return chain.Registration{ID: "notifier", Events: []string{events.UserNotification, events.OrchestratorComplete}, Priority: 30}
}

// Hook returns the hook. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	if opts.LookPath == nil {
		opts.LookPath = exec.LookPath
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		title, message, level, err := read(ev)
		if err != nil {
			return chain.Result{}, err
		}
		result := chain.Result{SuppressOutput: true}
		if !opts.notify(ctx, title, message) && ev.Name == events.UserNotification {
			result.UserMessage = "\a" + title + ": " + message
			result.UserMessageLevel = level
		}
		return result, nil
	}
}

// read makes the notification of an event.
func read(ev events.Event) (title, message string, level chain.Level, err error) {
	if ev.Name == events.OrchestratorComplete {
		var d events.OrchestratorCompleteData
		err = ev.Decode(&d)
		took := time.Duration(d.DurationMS) * time.Millisecond
		return "Agent: session complete", fmt.Sprintf("Completed %d turns in %.1fs", d.TurnCount, took.Seconds()), chain.LevelInfo, err
	}
	var d events.UserNotificationData
	if err := ev.Decode(&d); err != nil {
		return "", "", "", err
	}
	level = chain.LevelInfo
	switch d.NotificationType {
	case "error":
		level = chain.LevelError
	case "alert", "approval_required":
		level = chain.LevelWarning
	}
	return "Agent: " + oneLine(d.NotificationType), oneLine(d.Message), level, nil
}

// oneLine takes out what a terminal would act on.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)), " ")
}

// notify shows a notification on the desktop and reports whether it could. The
// texts are arguments of their own, never part of a script or a flag.
func (o Options) notify(ctx context.Context, title, message string) bool {
	for _, desktop := range [...][]string{
		{"notify-send", "--app-name=hookrouter", "--"},
		{
			"osascript", "-e", "on run argv",
			"-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--",
		},
	} {
		program, err := o.LookPath(desktop[0])
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, program, append(desktop[1:], title, message)...)
		cmd.WaitDelay = time.Second
		if cmd.Run() == nil {
			return true
		}
	}
	return false
}
