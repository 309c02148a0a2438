package identity

import (
	"slices"
	"strings"
)

// Role is the purpose of an identity, which determines what it may do.
type Role string

// The roles.
const (
	// Agent sends events and obeys the answers.
	Agent Role = "agent"
	// Approver answers approval requests.
	Approver Role = "approver"
	// Operator sees everything that a router offers, removes hooks, pins guards, ends
	// sessions and freezes agents.
	Operator Role = "operator"
	// Admin is an operator, an approver and an agent, thaws what was frozen, unpins guards,
	// calls hooks to try them, and sees secrets in approval requests.
	Admin Role = "admin"
	// Worker answers for hooks.
	Worker Role = "worker"
	// State reads and writes the state of hooks.
	State Role = "state"
	// Keeper reads the audit log, rotates and removes its segments.
	Keeper Role = "keeper"
	// Auditor reads a mirror of the audit log.
	Auditor Role = "auditor"
	// Witness reads the mirror, and co-signs what it saw.
	Witness Role = "witness"
	// Archive creates the mirrors, in the account of auditors and witnesses.
	Archive Role = "archive"
	// Router is hook-router itself.
	Router Role = "router"
	// System may send new accounts to the NATS server.
	System Role = "system"
)

// roles lists all roles.
var roles = []Role{Agent, Approver, Operator, Admin, Worker, State, Keeper, Auditor, Witness, Archive, Router, System}

// hasAccount reports whether each identity of the role has an account of its own, which proves to
// the routers who sends a request.
func (r Role) hasAccount() bool { return r == Agent || r == Approver || r == Operator || r == Admin }

// audits reports whether identities of the role share the account with the mirror of the
// audit log, from which nothing but signatures reaches the routers.
func (r Role) audits() bool { return r == Auditor || r == Witness || r == Archive }

// rights are what an identity may publish and subscribe to, apart from its inbox.
type rights struct {
	publish, subscribe []string
	responses          bool // it may answer what it receives
}

// rightsOf returns the rights of a role, for the prefix of the subjects. hooks are the ids that a
// worker answers for; "*" means all.
func rightsOf(r Role, prefix string, hooks []string) rights {
	p := prefix + "."
	switch r {
	case Agent:
		return rights{publish: under(p, slices.Concat(agentSubjects, proveSubject))}
	case Approver:
		return rights{publish: under(p, slices.Concat(approverSubjects, proveSubject)), subscribe: []string{p + "event.approval.>"}}
	case Operator:
		return rights{
			publish:   append(under(p, slices.Concat(operatorSubjects, []string{"session.show"}, proveSubject)), "$SRV.>"),
			subscribe: []string{p + "event.>", p + "result.>"},
		}
	case Admin:
		return rights{
			publish:   append(under(p, slices.Concat(agentSubjects, approverSubjects, operatorSubjects, adminSubjects, callSubject, proveSubject)), "$SRV.>"),
			subscribe: []string{p + "event.>", p + "result.>"},
		}
	case Worker:
		return workerRights(p, hooks)
	case State:
		return stateRights(prefix)
	case Keeper:
		return rights{publish: []string{"$JS.API.>", "$KV." + prefix + "_salts.>", p + "cosigned.>", "$SRV.>"}}
	case Auditor, Witness:
		return rights{publish: []string{
			"$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*",
			"$JS.API.CONSUMER.CREATE.*.>", "$JS.API.CONSUMER.INFO.*.>", "$JS.API.CONSUMER.DELETE.*.>", "$JS.API.CONSUMER.MSG.NEXT.*.>",
		}}
	case Archive:
		return rights{publish: []string{"$JS.API.INFO", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.INFO.*"}}
	case Router:
		return routerRights(prefix)
	case System:
		return rights{publish: []string{"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE"}}
	}
	return rights{}
}

var (
	proveSubject     = []string{"prove"}
	callSubject      = []string{"call.*"} // workers answer there, not routers
	agentSubjects    = []string{"emit.>", "execute.>", "collect.>", "contributions.>", "session.turn", "session.end"}
	approverSubjects = []string{"approvals", "approval.*", "approve.*", "session.show", "session.revoke"}
	operatorSubjects = []string{"handlers", "handlers.>", "registry", "explain.>", "unregister.*", "freeze", "frozen", "guards", "guard.pin", "hook.enable", "session.close", "policy.get", "policy.push"}
	adminSubjects    = []string{"reveal.*", "thaw", "registry.accept", "guard.unpin", "hook.disable"}
)

func under(p string, subjects []string) []string {
	list := make([]string, len(subjects))
	for i, s := range subjects {
		list[i] = p + s
	}
	return list
}

func workerRights(p string, hooks []string) rights {
	r := rights{publish: []string{p + "registry", p + "policy.get", p + "emit.module.load_failed"}, subscribe: []string{"$SRV.>"}, responses: true}
	for _, id := range hooks {
		r.publish = append(r.publish, p+"register."+id, p+"unregister."+id)
		r.subscribe = append(r.subscribe, p+"call."+id, p+"call."+id+".cancel")
	}
	return r
}

func stateRights(prefix string) rights {
	stream := "KV_" + prefix + "_hookstate"
	return rights{publish: []string{
		"$JS.API.INFO", "$JS.API.STREAM.CREATE." + stream, "$JS.API.STREAM.UPDATE." + stream,
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream, "$KV." + prefix + "_hookstate.>",
	}}
}

func routerRights(prefix string) rights {
	p := prefix + "."
	buckets := []string{"registry", "sessions", "approvals", "salts", "index", "policies"}
	log := strings.ToUpper(prefix)
	ofAgents := slices.Concat(agentSubjects[:4], []string{"session.*"}, proveSubject)
	r := rights{
		publish: append(under(p, []string{"call.>", "event.>", "result.>", "router.report", "audit.w.>", "audit.decision.*", "checkpoint.*"}),
			"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*",
			"$JS.API.CONSUMER.CREATE.*.>", "$JS.API.CONSUMER.INFO.*.>", "$JS.API.CONSUMER.DELETE.*.>", "$JS.API.CONSUMER.MSG.NEXT.*.>", "$JS.FC.>",
			"$JS.API.STREAM.CREATE."+log+"_AUDIT", "$JS.API.STREAM.CREATE."+log+"_CHECKPOINTS",
			p+"to.>", "_INBOX.>", "_R_.>"),
		subscribe: append(under(p, slices.Concat(ofAgents, []string{"approvals", "approval.*", "approve.*", "router.report", "register.*"}, operatorSubjects, adminSubjects, []string{"event.>", "result.>"})), "$SRV.>"),
	}
	r.subscribe = append(r.subscribe, under(p+"from.*.", ofAgents)...)
	for _, b := range buckets {
		r.publish = append(r.publish, "$KV."+prefix+"_"+b+".>", "$JS.API.STREAM.CREATE.KV_"+prefix+"_"+b)
		if b != "salts" {
			r.publish = append(r.publish, "$JS.API.STREAM.UPDATE.KV_"+prefix+"_"+b)
		}
	}
	return r
}
