package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/api/console"
)

// check returns an error for invalid limits and for flags that contradict each other.
func (s serve) check(command *kong.Context) error {
	if flag := embeddedFlag(command); flag != "" && s.NATSURL != "" {
		return fmt.Errorf("--%s is for the embedded NATS server, and --nats-url starts none: leave one of them out", flag)
	}
	if err := s.checkAuth(); err != nil {
		return err
	}
	if s.NATSURL == "" && s.Replicas > 1 {
		return fmt.Errorf("--jetstream-replicas is %d and the embedded NATS server is only one: join a cluster with --nats-url, or leave --jetstream-replicas out", s.Replicas)
	}
	if err := cmp.Or(s.checkLimits(), s.checkWebhooks()); err != nil {
		return err
	}
	noConsole := s.Console == "off" || s.HTTPListen == ""
	switch {
	case s.Approvals == "off" && s.ApprovalRules != "":
		return errors.New("--approvals=off and --approval-rules contradict each other: off denies every approval request. Remove one of them")
	case s.Approvals == "off" && s.ApprovalGroups != "":
		return errors.New("--approvals=off and --approval-groups contradict each other: off denies every approval request. Remove one of them")
	case s.Approvers == "proven" && !s.proves() && noConsole:
		return errors.New("with --approvers=proven nobody could answer: serve the console, or set --nats-accounts where approvers have a NATS account of their own")
	}
	if s.ConsoleToken != "" {
		if _, _, err := console.ParseTokens(s.ConsoleToken); err != nil {
			return fmt.Errorf("--console-token: %w", err)
		}
	}
	if err := s.checkConsoleURL(); err != nil {
		return err
	}
	if s.ConsoleProxyHeader != "" && !s.hasProxy() {
		return errors.New("--console-proxy-header needs a token that proves the proxy: add proxy:TOKEN to HOOK_ROUTER_CONSOLE_TOKEN, and have the proxy send it as Authorization: Bearer TOKEN")
	}
	return nil
}

// checkLimits returns an error for limits that are negative, or zero if zero has no meaning.
func (s serve) checkLimits() error {
	for _, limit := range [...]struct {
		flag        string
		value, want int64
	}{
		{"max-data", int64(s.MaxData), 1},
		{"max-reply", int64(s.MaxReply), 1},
		{"max-in-flight", int64(s.MaxInFlight), 1},
		{"max-per-session", int64(s.MaxPerSession), 1},
		{"max-per-agent", int64(s.MaxPerAgent), 1},
		{"chain-timeout", int64(s.ChainTimeout), 1},
		{"collect-timeout", int64(s.CollectTimeout), 1},
		{"ttl", int64(s.TTL), 1},
		{"audit-timeout", int64(s.AuditTimeout), 1},
		{"injection-size-limit", int64(s.InjectionSize), 1},
		{"injection-budget-per-turn", int64(s.InjectionBudget), 1},
		{"max-questions", int64(s.MaxApprovals), 1},
		{"max-questions-per-session", int64(s.MaxApprovalsPerSession), 1},
		{"approval-replay", int64(s.ApprovalReplay), 1},
		{"label-memory", int64(s.LabelMemory), 0},
		{"drain-timeout", int64(s.DrainTimeout), 0},
		{"jetstream-replicas", int64(s.Replicas), 0},
	} {
		switch {
		case limit.value >= limit.want:
		case limit.want > 0:
			return fmt.Errorf("--%s must be positive", limit.flag)
		default:
			return fmt.Errorf("--%s must not be negative", limit.flag)
		}
	}
	return nil
}

// checkConsoleURL returns an error if --console-url is invalid. Agents get this URL, so it must not
// contain possible secrets such as a user or a query.
func (s serve) checkConsoleURL() error {
	if s.ConsoleURL == "" {
		return nil
	}
	at, err := url.Parse(s.ConsoleURL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" || len(s.ConsoleURL) > 512 {
		return errors.New("--console-url must be an address such as https://hooks.example.com, without a user, a token or a query: agents are given it")
	}
	return nil
}

// hasProxy reports whether there is a token for a proxy of the console.
func (s serve) hasProxy() bool {
	_, people, err := console.ParseTokens(s.ConsoleToken)
	return err == nil && slices.ContainsFunc(people, func(p console.Person) bool { return p.Name == console.Proxy })
}
