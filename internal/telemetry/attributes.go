package telemetry

import "go.opentelemetry.io/otel/attribute"

// The names of the attributes of spans that are this product's own.
const (
	KeyEvent      = attribute.Key("hookrouter.event")               // the event's name
	KeyChannel    = attribute.Key("hookrouter.channel")             // the channel that contributors were asked for
	KeySession    = attribute.Key("hookrouter.session")             // the session's id; missing where there is none
	KeyRoot       = attribute.Key("hookrouter.session.root")        // the session at the root of its tree, where it is another
	KeyDepth      = attribute.Key("hookrouter.session.depth")       // how many sessions are above this one
	KeyChain      = attribute.Key("hookrouter.chain.id")            // one run of a chain
	KeyAction     = attribute.Key("hookrouter.action")              // what was decided, or what a hook answered; `skipped` where its match was false, `in_vain` where another hook had denied
	KeyHooks      = attribute.Key("hookrouter.hooks")               // how many hooks were called
	KeySkipped    = attribute.Key("hookrouter.hooks.skipped")       // of how many hooks the match was false
	KeyDeniedBy   = attribute.Key("hookrouter.denied_by")           // the id of the hook that denied
	KeyFailedOpen = attribute.Key("hookrouter.failed_open")         // a hook failed and was let pass
	KeyFailure    = attribute.Key("hookrouter.failure")             // the class of a hook's failure
	KeyRefused    = attribute.Key("hookrouter.refused")             // the code of a refusal
	KeyTokens     = attribute.Key("hookrouter.injected_tokens")     // what was put into the agent's context
	KeyAudit      = attribute.Key("hookrouter.audit.mode")          // strict, async or off
	KeyKept       = attribute.Key("hookrouter.kept")                // why a trace that was not sampled is kept
	KeyHook       = attribute.Key("hookrouter.hook.id")             // a hook's id
	KeyPriority   = attribute.Key("hookrouter.hook.priority")       // a hook's priority
	KeyMode       = attribute.Key("hookrouter.hook.mode")           // enforce, shadow, observe or async
	KeyGroup      = attribute.Key("hookrouter.hook.group")          // of hooks called at the same time, from 1
	KeyApproval   = attribute.Key("hookrouter.approval.id")         // an approval request
	KeyDecidedBy  = attribute.Key("hookrouter.approval.decided_by") // who the connection proves, `timeout`, `outdated`, or `rule NAME`
	KeyTimedOut   = attribute.Key("hookrouter.approval.timed_out")  // nobody answered in time
)

// The names of labels.
const (
	keyAgent       = attribute.Key("agent")
	keyVerb        = attribute.Key("verb")
	keyEventLabel  = attribute.Key("event")
	keyHookLabel   = attribute.Key("hook")
	keyActionLabel = attribute.Key("action")
	keyClass       = attribute.Key("class")
	keyCode        = attribute.Key("code")
	keyKind        = attribute.Key("kind")
	keyOutcome     = attribute.Key("outcome")
	keyModeLabel   = attribute.Key("mode")
)

// Other is the label of what has no place in a bounded set.
const Other = "other"
