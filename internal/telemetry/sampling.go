package telemetry

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// sampling makes the decision at the head of a trace, as configured by OTEL_TRACES_SAMPLER.
type sampling struct {
	byParent bool   // use the parent's decision if there is a parent
	below    uint64 // otherwise, sample trace ids below this
}

const allTraces = 1 << 63

// samplingFromEnv reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
func samplingFromEnv() (sampling, error) {
	name := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	kind, byParent := strings.CutPrefix(name, "parentbased_")
	s := sampling{byParent, allTraces}
	switch kind {
	case "":
		s.byParent = true // the standard's default: parentbased_always_on
	case "always_on":
	case "always_off":
		s.below = 0
	case "traceidratio":
		text := strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
		if text == "" {
			break
		}
		ratio, err := strconv.ParseFloat(text, 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			return s, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q: a number from 0 to 1 is needed", text)
		}
		s.below = uint64(ratio * allTraces)
	default:
		return s, fmt.Errorf("OTEL_TRACES_SAMPLER is %q: always_on, always_off, traceidratio, or one of these after parentbased_", name)
	}
	return s, nil
}

// samples decides at the head of a trace, in the same way as the samplers of OpenTelemetry's SDKs.
func (s sampling) samples(parent trace.SpanContext, id trace.TraceID) bool {
	if s.byParent && parent.IsValid() {
		return parent.IsSampled()
	}
	return binary.BigEndian.Uint64(id[8:])>>1 < s.below
}

// kept returns why a chain's trace is kept whatever the decision at its head; empty if it is not.
func (c *Chain) kept() string {
	switch action := c.action(); {
	case c.Refused >= 500:
		return "refused"
	case action == "deny" || action == "pending" || action == "ask_user":
		return action
	case c.Approval != "":
		return "ask_user"
	}
	for i := range c.Outcome.Calls {
		if c.Outcome.Calls[i].Failure != "" {
			return "failure"
		}
	}
	for i := range c.Answers {
		if c.Answers[i].Failure != "" {
			return "failure"
		}
	}
	return ""
}
