package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// clock is the time of day at the begin of a live line.
func (p *printer) clock() string { return p.paint(dim, time.Now().Format("15:04:05.000")) }

// show writes one line of watch.
func (p *printer) show(s *sight) {
	if p.json {
		p.line(s)
		return
	}
	what, rest := p.paint(cyan, "event "), clean(clip(string(s.Data), 2*maxValue))
	switch s.Kind {
	case "result":
		what, rest = p.paint(bold, "result"), p.result(s.result)
	case "unreadable":
		what, rest = p.paint(red, "broken"), clean(s.Error)
	}
	p.print("%s %s  %-16s %-10s %s\n", p.clock(), what, clean(s.Event), orDash(clean(s.Session)), rest)
}

func (p *printer) result(r resultBody) string {
	text := p.paint(actionColor(chain.Action(r.Action)), clean(r.Action))
	if r.DeniedBy != "" {
		text += " by " + clean(r.DeniedBy)
	}
	if r.Reason != "" {
		text += ": " + clean(r.Reason)
	}
	if r.ApprovalID != "" {
		text += ", approval " + clean(r.ApprovalID)
	}
	hops := make([]string, len(r.Hooks))
	for i, hop := range r.Hooks {
		did := hop.Action
		if hop.Failure != "" {
			did = hop.Failure
		}
		if hop.FailedOpen {
			did += ", let pass"
		}
		hops[i] = fmt.Sprintf("%s %s %s", clean(hop.ID), clean(did), micros(hop.Micros))
	}
	if len(hops) == 0 {
		return text + p.paint(dim, "  no hook")
	}
	return text + p.paint(dim, "  ["+strings.Join(hops, "; ")+"]")
}

func micros(us int64) string { return fmt.Sprintf("%.1fms", float64(us)/1000) }

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
