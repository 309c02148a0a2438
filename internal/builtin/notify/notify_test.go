package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/builtin/notify"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleNew() {
	_, err := notify.New(kind.Section{}, notify.Options{Text: "{event} {password}"})
	fmt.Println(err)
	// Output: /text: there is no field {password}: known are {event}, {session}, {tool}, {message}, {time}
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// webhook is one that keeps what it got, and a hook that tells it.
func webhook(t *testing.T, status int, o notify.Options) (hook kind.Hook, got *[]string) {
	t.Helper()
	got = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = append(*got, r.Header.Get("Webhook-Id")+"|"+r.Header.Get("Webhook-Signature")+"|"+string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	t.Setenv("NOTIFY_URL", server.URL+"/s3cret")
	t.Setenv("NOTIFY_SECRET", secret)
	o.URLEnv = "NOTIFY_URL"
	hook, err := notify.New(kind.Section{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hook.Close)
	return hook, got
}

func tell(t *testing.T, hook kind.Hook, name, data string) error {
	t.Helper()
	_, err := hook.Handler(t.Context(), events.Event{ID: "e1", Name: name, Session: "s1", Data: json.RawMessage(data)})
	return err
}

func TestWebhookGetsASignedMaskedMessage(t *testing.T) {
	hook, got := webhook(t, 204, notify.Options{SecretEnv: "NOTIFY_SECRET", Text: "{event} {session} {tool}: {message}"})
	if err := tell(t, hook, events.ApprovalRequired, `{"tool_name":"Bash","prompt":"Run\n{session} \u001b[31mghp_0123456789abcdefghijklmnopqrstuvwxyz?"}`); err != nil {
		t.Fatal(err)
	}
	if len(*got) != 1 || !strings.HasPrefix((*got)[0], "e1|v1,") {
		t.Fatalf("the webhook got %q; want one signed message", *got)
	}
	if !strings.Contains((*got)[0], `"text":"approval:required s1 Bash: Run {session} [31m[REDACTED:github-token]?"`) {
		t.Errorf("the webhook got %s", (*got)[0])
	}
}

// An agent must not write a link, or alert a room, where the webhook is one of a chat.
func TestAMessageIsPlainTextInChatRooms(t *testing.T) {
	hook, got := webhook(t, 200, notify.Options{Text: "<!here> {message}"})
	if err := tell(t, hook, events.UserNotification, `{"message":"<!channel> @all <https://evil.example|Approve> [Approve](https://evil.example) a < b"}`); err != nil {
		t.Fatal(err)
	}
	var body struct{ Text string }
	if err := json.Unmarshal([]byte(strings.SplitN((*got)[0], "|", 3)[2]), &body); err != nil {
		t.Fatal(err)
	}
	if want := "<!here> ‹!channel› ＠all ‹https://evil.example|Approve› [Approve] (https://evil.example) a ‹ b"; body.Text != want {
		t.Errorf("the webhook got %q; want %q", body.Text, want)
	}
}

func TestRepeatedMessagesAreSentOnceAndLimited(t *testing.T) {
	hook, got := webhook(t, 200, notify.Options{PerMinute: 3})
	for range 3 {
		if err := tell(t, hook, events.SessionEnd, `{"reason":"complete"}`); err != nil {
			t.Fatal(err)
		}
	}
	if len(*got) != 1 {
		t.Errorf("the same was told %d times", len(*got))
	}
	for i := range 10 {
		if err := tell(t, hook, events.SessionEnd, fmt.Sprintf(`{"reason":"%d"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(*got) != 3 {
		t.Errorf("%d were told; want 3 in a minute", len(*got))
	}
}

func TestAQuestionIsSentOnce(t *testing.T) {
	hook, got := webhook(t, 200, notify.Options{})
	for _, c := range [][2]string{
		{events.ApprovalRequired, `{"prompt":"x"}`},
		{events.UserNotification, `{"notification_type":"approval_required","message":"Approval needed: x"}`},
		{events.UserNotification, `{"notification_type":"error","message":"x"}`},
	} {
		if err := tell(t, hook, c[0], c[1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(*got) != 2 {
		t.Errorf("told %q; want the approval request and the error", *got)
	}
}

func TestAWebhookThatFailsIsAnError(t *testing.T) {
	for _, status := range []int{302, 400, 500} {
		hook, got := webhook(t, status, notify.Options{})
		err := tell(t, hook, events.SessionEnd, `{}`)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint("it answered ", status)) || len(*got) != 1 {
			t.Errorf("%d: %v, %d requests", status, err, len(*got))
		}
	}
	hook, _ := webhook(t, 200, notify.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := hook.Handler(ctx, events.Event{Name: events.SessionEnd, Data: json.RawMessage(`{}`)})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v; want one without the address", err)
	}
}

func TestDesktopShowsTheMessage(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notify-send", "osascript"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nfor a; do echo \"$a\"; done > "+dir+"/args\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	hook, err := notify.New(kind.Section{}, notify.Options{Desktop: notify.DesktopOn})
	if err != nil {
		t.Fatal(err)
	}
	if err := tell(t, hook, events.UserNotification, `{"message":"-x \"$(id)\" <b>"}`); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if lines := strings.Split(strings.TrimSpace(string(args)), "\n"); err != nil || !strings.HasPrefix(lines[len(lines)-1], "user:notification: -x ") || !strings.Contains(string(args), "$(id)") {
		t.Errorf("the program got %q, %v", args, err)
	}
}

func TestWarningWithoutAnyChannel(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	hook, err := notify.New(kind.Section{}, notify.Options{})
	if err != nil || len(hook.Warnings) != 1 || !strings.Contains(hook.Warnings[0].Error(), "nobody is notified") {
		t.Errorf("warnings %v, %v; want that nobody is notified", hook.Warnings, err)
	}
	if hook, _ := webhook(t, 200, notify.Options{}); len(hook.Warnings) != 0 {
		t.Errorf("with a webhook: warnings %v", hook.Warnings)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("PLAIN", "http://example.org/s3cret")
	t.Setenv("NOTHING", "s3cret")
	t.Setenv("GOOD", "https://example.org/s3cret")
	for name, c := range map[string]struct {
		o       notify.Options
		pointer string
	}{
		"a field":        {notify.Options{Text: "{data}"}, "/text"},
		"a rate":         {notify.Options{PerMinute: -1}, "/per_minute"},
		"a desktop":      {notify.Options{Desktop: "maybe"}, "/desktop"},
		"no desktop":     {notify.Options{Desktop: notify.DesktopOn}, "/desktop"},
		"no variable":    {notify.Options{URLEnv: "NOTIFY_NOBODY"}, "/url_env"},
		"no TLS":         {notify.Options{URLEnv: "PLAIN"}, "/url_env"},
		"no address":     {notify.Options{URLEnv: "NOTHING"}, "/url_env"},
		"no secret":      {notify.Options{URLEnv: "GOOD", SecretEnv: "NOTHING"}, "/secret_env"},
		"nobody to sign": {notify.Options{SecretEnv: "NOTHING"}, "/secret_env"},
	} {
		_, err := notify.New(kind.Section{}, c.o)
		if field, ok := errors.AsType[*kind.FieldError](err); !ok || string(field.Pointer) != c.pointer || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v; want an error at %s without the value", name, err, c.pointer)
		}
	}
}
