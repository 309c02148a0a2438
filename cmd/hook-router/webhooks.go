package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/webhook"
)

// checkWebhooks returns an error for webhook flags that are invalid or contradict other flags.
func (s serve) checkWebhooks() error {
	for _, text := range s.WebhookAfter {
		if _, err := webhook.ParseEscalation(text); err != nil {
			return fmt.Errorf("--webhook-after: %w", err)
		}
	}
	some := len(s.Webhook)+len(s.WebhookAfter) > 0
	switch {
	case some && s.WebhookSecret == "":
		return errors.New("--webhook needs a secret to sign with: set HOOK_ROUTER_WEBHOOK_SECRET")
	case some && s.Approvals == "off":
		return errors.New("--approvals=off and --webhook contradict each other: with approvals off there is nothing to publish. Remove one of them")
	case s.WebhookLinks && !some:
		return errors.New("--webhook-links needs somebody to send links to: add --webhook")
	case s.WebhookLinks && s.Approvers == "proven":
		return errors.New("--approvers=proven and --webhook-links contradict each other: a link does not prove who opens it. Remove one of them")
	case s.WebhookLinks && s.ConsoleURL == "":
		return errors.New("--webhook-links needs the address that people reach the console at: add --console-url")
	case s.WebhookLinks && (s.Console == "off" || s.HTTPListen == ""):
		return errors.New("--webhook-links needs the console, which takes the answers: remove --console=off, and name an address with --http-listen")
	}
	return nil
}

// webhooks returns the receivers of approval requests. The flags must have been checked.
func (s serve) webhooks() webhook.Options {
	o := webhook.Options{URLs: s.Webhook, Secret: s.WebhookSecret}
	for _, text := range s.WebhookAfter {
		later, _ := webhook.ParseEscalation(text)
		o.Later = append(o.Later, later)
	}
	if s.WebhookLinks {
		o.Links = strings.TrimSuffix(s.ConsoleURL, "/")
	}
	return o
}
