package main

import "fmt"

// tracedTime returns the time of a chain with tracing relative to that without, one in flight. The
// arms are: off, all sampled, a tenth sampled, off.
func tracedTime(all [][]*sample) figure {
	off, every, tenth := p50s(merged(all[0], all[3])), p50s(all[1]), p50s(all[2])
	value, kept := medianRatio(every, off), medianRatio(tenth, off)
	return figure{
		Name: "tracing, all sampled: p50 of 3 hops over that without, one in flight", Unit: "x", Value: value, Most: 1.10,
		Note: fmt.Sprintf("%.0f us over %.0f us; 10 %% sampled: %.3f", median(every)/1e3, median(off)/1e3, kept),
	}
}

// tracedRate returns the throughput with tracing relative to that without, 64 in flight.
func tracedRate(sampled string, on, off []*sample, least float64, d delivery) figure {
	with, without := rates(on), rates(off)
	value := medianRatio(with, without)
	return figure{
		Name: fmt.Sprintf("tracing, %s: chains/s of 3 hops over those without, 64 in flight", sampled), Unit: "x", Value: value, Least: least,
		Note: fmt.Sprintf("%.0f over %.0f, the time until all spans were sent included; dropped %.2f %% of %d spans",
			median(with), median(without), 100*d.dropped(), d.made),
	}
}

// droppedSpans returns the share of spans that were dropped in a run without pauses.
func droppedSpans(d delivery, run *sample) figure {
	return figure{
		Name: "tracing, all sampled: spans dropped, of those made, 64 in flight without a pause", Unit: "%", Value: 100 * d.dropped(), Most: 1,
		Note: fmt.Sprintf("%d of %d, in %.1f s at %.0f chains/s", d.made-d.Spans, d.made, run.elapsed.Seconds(), run.rate()),
	}
}

// deniedTraces returns the share of denied events with complete traces, with a tenth of all traces
// sampled.
func deniedTraces(d delivery, denied, chains int) figure {
	return figure{
		Name: "tracing, 10 % sampled: denied events that have their whole trace", Unit: "x", Value: float64(d.Denied) / float64(denied), Least: 1,
		Note: fmt.Sprintf("%d of %d; the collector has traces of %.1f %% of all %d events", d.Denied, denied, 100*float64(d.Traces)/float64(chains), chains),
	}
}
