package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/time/rate"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/webhook/response"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const (
	maxField    = 200 // characters
	maxText     = 1000
	repeatAfter = time.Minute // for the same text
	maxAnswer   = 16 << 10    // bytes of a webhook's response that are read and discarded
)

// desktopEnv are the environment variables that lead to the desktop session.
var desktopEnv = []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"}

// Builtin is notify.
var Builtin = builtin.Of("Tells a person that an agent needs somebody or is done.",
	chain.Registration{
		Events: []string{events.ApprovalRequired, events.UserNotification, events.SessionEnd}, Priority: 100, TimeoutMS: 10_000, Mode: chain.Observe,
	}, New)

// notifier is the hook.
type notifier struct {
	text    string
	desktop string // the program; empty for none
	url     string // of the webhook; empty for none
	client  *http.Client
	keys    signature.Keys
	limit   *rate.Limiter

	mu     sync.Mutex // guards recent
	recent map[string]time.Time
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	n, err := o.notifier()
	if err != nil {
		return kind.Hook{}, err
	}
	asked := s.Registration == nil || slices.Contains(s.Registration.Events, events.ApprovalRequired)
	hook := kind.Hook{Acts: true, Handler: func(ctx context.Context, ev events.Event) (chain.Result, error) {
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return chain.Result{}, err
		}
		if about, _ := data.GetString("notification_type"); asked && ev.Name == events.UserNotification && about == "approval_required" {
			return chain.Result{}, nil // approval:required reports it already
		}
		text := n.compose(ev, data)
		if n.desktop == "" && n.url == "" || !n.allow(text, time.Now()) {
			return chain.Result{}, nil
		}
		return chain.Result{}, errors.Join(n.show(ctx, text), n.post(ctx, ev, text))
	}}
	if n.desktop == "" && n.url == "" {
		hook.Warnings = []error{kind.At("", "nobody is notified: there is no notify-send or osascript here, and no url_env")}
	}
	if n.client != nil {
		hook.Close = n.client.CloseIdleConnections
	}
	return hook, nil
}

// compose returns the text with its placeholders replaced.
func (n *notifier) compose(ev events.Event, data events.Object) string {
	message := ""
	for _, name := range []string{"message", "prompt", "reason"} {
		if message == "" {
			message, _ = data.GetString(name)
		}
	}
	tool, _ := data.Tool(ev.Name)
	name := tool.Name
	if name == "" {
		name, _ = data.GetString("tool_name")
	}
	field := func(text string) string { return plain.Replace(clean(text, maxField)) }
	text := strings.NewReplacer("{event}", field(ev.Name), "{session}", field(ev.Session), "{tool}", field(name),
		"{message}", field(message), "{time}", field(ev.Time)).Replace(n.text)
	return clean(text, maxText)
}

// plain disables the markup of chat systems: <url|text> and [text](url) are links, whose text may
// hide their target; <!channel> and @all alert a whole channel.
var plain = strings.NewReplacer("<", "‹", ">", "›", "](", "] (", "@", "＠")

// clean masks secrets, then makes the text one line and cuts it.
func clean(text string, limit int) string {
	text, _ = redact.Default().Text(text)
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "?"))
	return builtin.Line(text, limit)
}

// allow reports whether a text may be sent under the rate limits, and records it.
func (n *notifier) allow(text string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for old, at := range n.recent {
		if now.Sub(at) >= repeatAfter {
			delete(n.recent, old)
		}
	}
	if _, again := n.recent[text]; again || !n.limit.AllowN(now, 1) {
		return false
	}
	n.recent[text] = now // the rate limit bounds its size
	return true
}

// show notifies the desktop.
func (n *notifier) show(ctx context.Context, text string) error {
	if n.desktop == "" {
		return nil
	}
	const title = "hook-worker"
	cmd := process.Program{Path: n.desktop, Args: []string{"--app-name=" + title, "--", title, html.EscapeString(text)}, Env: process.Environ(slices.Concat(process.DefaultEnv, desktopEnv))}
	if filepath.Base(n.desktop) == "osascript" {
		cmd.Args = []string{"-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, text}
	}
	out, err := cmd.Run(ctx)
	if err == nil && out.Code != 0 {
		err = fmt.Errorf("run %s: exit code %d: is there a desktop?", cmd.Name(), out.Code)
	}
	return err
}

// post sends the text to the webhook. Errors omit the URL, which may be secret.
func (n *notifier) post(ctx context.Context, ev events.Event, text string) error {
	if n.url == "" {
		return nil
	}
	body, err := json.Marshal(map[string]string{"text": text, "event": ev.Name, "event_id": ev.ID})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("tell the webhook: the request can't be made")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "hook-worker")
	if n.keys != nil {
		n.keys.Set(req.Header, url.QueryEscape(ev.ID), time.Now(), body)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return fmt.Errorf("tell the webhook: %w", response.WithoutURL(err))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be reused
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("tell the webhook: it answered %d", resp.StatusCode)
	}
	return nil
}
