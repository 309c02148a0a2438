package notify

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Defaults of [Options].
const (
	DefaultText      = "{event}: {message}"
	DefaultPerMinute = 10

	maxPerMinute = 600
)

// Desktop says whether to notify the desktop of the worker's machine.
type Desktop string

// The values of [Desktop]. The zero Desktop means [DesktopAuto].
const (
	DesktopAuto Desktop = "auto" // if notify-send or osascript is installed and there is no webhook
	DesktopOn   Desktop = "on"
	DesktopOff  Desktop = "off"
)

// Options of the builtin. The zero Options tell the desktop.
type Options struct {
	// Text is the notification, with {event}, {session}, {tool}, {message} and {time} in it;
	// empty means [DefaultText]. The message is the event's message, prompt or reason.
	Text string `json:"text"`
	// Desktop is auto, on or off; empty means auto.
	Desktop Desktop `json:"desktop"`
	// URLEnv names the variable with the address of a webhook: https, or http on the
	// own machine. Empty means no webhook.
	URLEnv string `json:"url_env"`
	// SecretEnv names the variable with the secret that signs what a webhook gets.
	SecretEnv string `json:"secret_env"`
	// PerMinute bounds the texts of a minute; 0 means [DefaultPerMinute].
	PerMinute int `json:"per_minute"`
}

// fields are the placeholders that a text may have.
var fields = []string{"{event}", "{session}", "{tool}", "{message}", "{time}"}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// notifier checks the options and builds the notifier.
func (o Options) notifier() (*notifier, error) {
	n := &notifier{text: cmp.Or(o.Text, DefaultText), recent: map[string]time.Time{}}
	for _, field := range placeholder.FindAllString(n.text, -1) {
		if !slices.Contains(fields, field) {
			return nil, kind.At("/text", "there is no field %s: known are %s", field, strings.Join(fields, ", "))
		}
	}
	if o.PerMinute < 0 || o.PerMinute > maxPerMinute {
		return nil, kind.At("/per_minute", "must be 1 to %d, not %d", maxPerMinute, o.PerMinute)
	}
	perMinute := cmp.Or(o.PerMinute, DefaultPerMinute)
	n.limit = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
	if !slices.Contains([]Desktop{"", DesktopAuto, DesktopOn, DesktopOff}, o.Desktop) {
		return nil, kind.At("/desktop", "must be auto, on or off, not %q", o.Desktop)
	}
	if o.SecretEnv != "" && o.URLEnv == "" {
		return nil, kind.At("/secret_env", "signs what a webhook gets, and there is none: give url_env")
	}
	if err := o.webhook(n); err != nil {
		return nil, err
	}
	if o.Desktop == DesktopOn || o.Desktop != DesktopOff && n.url == "" {
		program, err := findDesktop()
		if err != nil && o.Desktop == DesktopOn {
			return nil, kind.Lacks("/desktop", err)
		}
		n.desktop = program
	}
	return n, nil
}

func findDesktop() (string, error) {
	if runtime.GOOS == "darwin" {
		return process.Find("", "osascript")
	}
	return process.Find("", "notify-send")
}

// webhook reads the URL and the secret from the environment. Errors omit both.
func (o Options) webhook(n *notifier) error {
	if o.URLEnv != "" {
		text := os.Getenv(o.URLEnv)
		u, err := url.Parse(text)
		switch {
		case text == "":
			return kind.Lacks("/url_env", kind.ErrNoVariable)
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
			return kind.Lacks("/url_env", errors.New("the variable does not hold an address like https://host/path"))
		case u.Scheme == "http" && !kind.Loopback(u.Hostname()):
			return kind.Lacks("/url_env", errors.New("the variable holds an address without TLS: use https"))
		}
		n.url = text
		transport := http.DefaultTransport.(*http.Transport).Clone()
		n.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.SecretEnv != "" {
		text := os.Getenv(o.SecretEnv)
		if text == "" {
			return kind.Lacks("/secret_env", kind.ErrNoVariable)
		}
		keys, err := signature.Parse(text)
		if err != nil {
			return kind.Lacks("/secret_env", err)
		}
		n.keys = keys
	}
	return nil
}
