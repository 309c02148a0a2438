package main

import (
	"math"
	"slices"
	"time"
)

// percentile returns the nearest-rank percentile: the smallest value such that at least the share p
// of the values, 0 < p <= 1, is not above it. It sorts values, which must not be empty.
func percentile(values []time.Duration, p float64) time.Duration {
	slices.Sort(values)
	rank := int(math.Ceil(p * float64(len(values))))
	return values[max(rank, 1)-1]
}

// median returns the middle value, or the mean of the two middle values; NaN if there are none. It
// sorts values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// ratios divides the values of each round pair by pair.
func ratios(over, under []float64) []float64 {
	list := make([]float64, min(len(over), len(under)))
	for i := range list {
		list[i] = over[i] / under[i]
	}
	return list
}

// medianRatio returns the median of the rounds' ratios.
func medianRatio(over, under []float64) float64 { return median(ratios(over, under)) }
