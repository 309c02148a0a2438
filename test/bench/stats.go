package main

import (
	"math"
	"slices"
	"time"
)

// percentile returns the smallest value that at least p of the values, 0 < p <= 1,
// are not above (the nearest rank). It sorts values, of which there must be one.
func percentile(values []time.Duration, p float64) time.Duration {
	slices.Sort(values)
	rank := int(math.Ceil(p * float64(len(values))))
	return values[max(rank, 1)-1]
}

// median returns the middle value, or the mean of the two in the middle; NaN for
// none. It sorts values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// ratios divides pair by pair: what was measured in one round by what was
// measured in the same round.
func ratios(over, under []float64) []float64 {
	list := make([]float64, min(len(over), len(under)))
	for i := range list {
		list[i] = over[i] / under[i]
	}
	return list
}

// medianRatio is the median of the rounds' ratios.
func medianRatio(over, under []float64) float64 { return median(ratios(over, under)) }
