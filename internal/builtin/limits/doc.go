// Package limits is the builtin limits: it stops an agent that calls too many tools, or
// uses too many tokens or too much money, until time frees what it used, or its session
// ends.
//
//	hooks:
//	  - id: limits
//	    builtin:
//	      limits:
//	        rules:
//	          - {per: [session], calls: 60, within: 1m}
//	          - {per: [agent], tools: [shell], calls: 1000, within: 1h, then: ask}
//	          - {per: [session], cost: 5}
//
// Without rules these hold: 120 calls within a minute and 5000 in all, each for a session.
//
// # What is counted
//
// A call counts when it is asked about, whatever later hooks say; one that a rule denies does
// not count for that rule, and may for others. It counts for a twelfth of the time longer than
// the rule says, so that no span of that time ever holds more. Replicas count together,
// exactly, and by the clock of NATS.
//
// Tokens and cost are those that llm:response tells of: they count when they were used,
// and what comes next is stopped: tools, prompts and calls of the model. Cost counts where
// events tell it, or by prices. An agent whose provider:response tells it instead has
// that in the hook's events, in place of llm:response, or it would count twice.
//
// Events without a session count as one session. An agent is the source of its events, which
// it chooses, as it does its session and whose sub-agent it is: only an identity is proven,
// and a limit for each identity is one that no new session escapes. Who has none counts as
// one with all others that have none.
//
// # Failure
//
// It is a guard: where the counts can't be reached it fails, and its on_failure, which is
// deny, holds.
package limits
