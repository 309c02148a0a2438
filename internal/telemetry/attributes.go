package telemetry

import "go.opentelemetry.io/otel/attribute"

// The names of the attributes of spans that are this product's own.
const (
	KeyEvent      = attribute.Key("hookrouter.event")               // the event's name
	KeyChannel    = attribute.Key("hookrouter.channel")             // the channel of contributors
	KeySession    = attribute.Key("hookrouter.session")             // the session's id
	KeyRoot       = attribute.Key("hookrouter.session.root")        // the root of its tree
	KeyDepth      = attribute.Key("hookrouter.session.depth")       // sessions above this one
	KeyChain      = attribute.Key("hookrouter.chain.id")            // one run of a chain
	KeyAction     = attribute.Key("hookrouter.action")              // decision or a hook's answer; `skipped`: its match was false; `in_vain`: another hook had denied
	KeyHooks      = attribute.Key("hookrouter.hooks")               // hooks called
	KeySkipped    = attribute.Key("hookrouter.hooks.skipped")       // hooks whose match was false
	KeyDeniedBy   = attribute.Key("hookrouter.denied_by")           // the hook that denied
	KeyFailedOpen = attribute.Key("hookrouter.failed_open")         // a hook failed open
	KeyFailure    = attribute.Key("hookrouter.failure")             // class of a hook's failure
	KeyRefused    = attribute.Key("hookrouter.refused")             // code of a refusal
	KeyTokens     = attribute.Key("hookrouter.injected_tokens")     // tokens put into the agent's context
	KeyAudit      = attribute.Key("hookrouter.audit.mode")          // strict, async or off
	KeyKept       = attribute.Key("hookrouter.kept")                // why an unsampled trace is kept
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
