package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// ruleFiles are the files that the router reads at start, on a change and on SIGHUP. If a file is
// invalid, the rules in force stay.
type ruleFiles struct {
	approvalRules, approvalGroups, auditRedact, pinned string // paths; empty for none

	rules atomic.Pointer[approval.Rules]
	mask  atomic.Pointer[redact.Rules]

	people *people.People // nil without a file
	guards *pinned.Guards // of the file or of the policy of up; nil without either

	policy chan<- os.Signal // gets each reload signal as well; nil without a policy
}

// load reads all files, and applies them if all are valid.
func (f *ruleFiles) load() error {
	rules, rulesErr := read(f.approvalRules, "approval rules", approval.ParseRules)
	mask, maskErr := read(f.auditRedact, "redaction rules", redact.ParseRules)
	guards, guardsErr := read(f.pinned, "pinned guards", pinned.Parse)
	who, peopleErr := read(f.approvalGroups, "groups of approvers", people.Parse)
	if err := errors.Join(rulesErr, maskErr, guardsErr, peopleErr); err != nil {
		return err
	}
	switch {
	case f.pinned == "": // there are none, or they are of the policy
	case f.guards == nil:
		f.guards = guards
	default:
		f.guards.Replace(guards)
	}
	switch {
	case f.people == nil:
		f.people = who
	case who != nil:
		f.people.Replace(who)
	}
	f.rules.Store(&rules)
	f.mask.Store(mask)
	return nil
}

// read reads and parses a file. It returns the zero value for an empty path.
func read[T any](path, what string, parse func(name string, text []byte) (T, error)) (rules T, err error) {
	if path == "" {
		return rules, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return rules, fmt.Errorf("read the %s: %w", what, err)
	}
	return parse(path, text)
}

// paths returns the paths of the configured files.
func (f *ruleFiles) paths() []string {
	return slices.DeleteFunc([]string{f.approvalRules, f.approvalGroups, f.auditRedact, f.pinned}, func(path string) bool { return path == "" })
}

// watched returns a watcher of the files, which must be started before they are read; nil if there
// are none or watching fails. The caller must close it.
func (f *ruleFiles) watched(log *slog.Logger) *filewatch.Watcher {
	paths := f.paths()
	if len(paths) == 0 {
		return nil
	}
	w, err := filewatch.New(paths...)
	if err != nil {
		log.Warn("file watch failed; send SIGHUP to reload", "error", err)
		return nil
	}
	return w
}

// watch loads the files on each change and each signal until ctx ends.
func (f *ruleFiles) watch(ctx context.Context, changed <-chan struct{}, reload <-chan os.Signal, log *slog.Logger) {
	for {
		select {
		case <-changed:
		case s := <-reload:
			select {
			case f.policy <- s:
			default: // a reload is already pending, or there is no policy
			}
		case <-ctx.Done():
			return
		}
		some := len(f.paths()) > 0
		switch err := f.load(); {
		case !some && f.policy != nil: // the policy logs it
		case !some:
			log.Info("nothing to reload; none of --approval-rules, --approval-groups, --audit-redact and --guards names a file")
		case err != nil:
			log.Error("reload failed; the rules stay as they were", "error", err)
		default:
			log.Info("reloaded", "approval_rules", f.approvalRules, "approval_groups", f.approvalGroups, "audit_redact", f.auditRedact, "guards", f.pinned)
		}
	}
}

// Match returns the rule in force that decides an approval request, if any.
func (f *ruleFiles) Match(facts approval.Facts) (approval.Rule, bool) {
	return f.rules.Load().Match(facts)
}

// Shadow returns the shadow rule in force that would decide.
func (f *ruleFiles) Shadow(facts approval.Facts) (approval.Rule, bool) {
	return f.rules.Load().Shadow(facts)
}

// masker returns a masker of records that uses the rules in force; nil without a file.
func (f *ruleFiles) masker() redact.Masker { return f.maskWith(f.mask.Load) }

// approvalMasker returns a masker of approval requests that uses the rules in force; nil without a
// file.
func (f *ruleFiles) approvalMasker() redact.Masker {
	return f.maskWith(func() *redact.Rules { return f.mask.Load().ForApproval() })
}

func (f *ruleFiles) maskWith(rules func() *redact.Rules) redact.Masker {
	if f.auditRedact == "" {
		return nil
	}
	return masker(rules)
}

// masker masks with the rules that it returns.
type masker func() *redact.Rules

func (m masker) Object(raw []byte) ([]byte, int) { return m().Object(raw) }
func (m masker) Text(text string) (string, int)  { return m().Text(text) }
