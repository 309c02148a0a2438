// Command bridge tells ntfy and Slack when an agent waits for a person, and lets people
// answer there. The router runs with --webhook=http://127.0.0.1:8090/approvals,
// --webhook-links and --console-url; the bridge reads its settings from the environment.
//
//	HOOK_ROUTER_WEBHOOK_SECRET  the router's, to check what comes
//	HOOK_ROUTER_CONSOLE_URL     the router's: links lead there, and answers go there
//	NTFY_URL                    topic of ntfy, such as https://ntfy.sh/approvals-3f9a
//	SLACK_WEBHOOK_URL           incoming webhook of the Slack app
//	SLACK_SIGNING_SECRET        of the Slack app, whose interactivity URL is /slack here
//	SLACK_USERS                 who may answer in Slack: U012AB3CD=ann,U045EF6GH=bob
package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	b := newBridge(os.Getenv)
	server := &http.Server{Addr: cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:8090"), Handler: b.handler(), ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintln(os.Stderr, "bridge: listening on", server.Addr)
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "bridge:", err)
		os.Exit(1)
	}
}

// bridge is between one router and the rooms where people are.
type bridge struct {
	secret, console   string
	ntfy              string
	slack, slackKey   string
	slackUsers        map[string]string // names by Slack's ids
	slackAnswersBelow string            // where Slack takes what replaces a message
	client            *http.Client
	now               func() time.Time
}

func newBridge(getenv func(string) string) *bridge {
	b := &bridge{
		secret: getenv("HOOK_ROUTER_WEBHOOK_SECRET"), console: strings.TrimSuffix(getenv("HOOK_ROUTER_CONSOLE_URL"), "/"),
		ntfy: getenv("NTFY_URL"), slack: getenv("SLACK_WEBHOOK_URL"), slackKey: getenv("SLACK_SIGNING_SECRET"),
		slackUsers: map[string]string{}, slackAnswersBelow: "https://hooks.slack.com/",
		client: &http.Client{Timeout: 10 * time.Second}, now: time.Now,
	}
	for pair := range strings.SplitSeq(getenv("SLACK_USERS"), ",") {
		if id, name, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			b.slackUsers[id] = name
		}
	}
	return b
}

func (b *bridge) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /approvals", b.approvals)
	mux.HandleFunc("POST /slack", b.slackAction)
	return mux
}
