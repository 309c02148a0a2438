package main

import (
	"math"
	"testing"
	"time"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)) // 100 … 1
	}
	for _, tc := range []struct {
		name   string
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{"of one value", []time.Duration{7}, 0.99, 7},
		{"the lower of two", []time.Duration{9, 3}, 0.5, 3},
		{"the middle of three", []time.Duration{9, 3, 5}, 0.5, 5},
		{"half of a hundred", hundred, 0.5, 50},
		{"99 of a hundred", hundred, 0.99, 99},
		{"all", hundred, 1, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := percentile(tc.values, tc.p); got != tc.want {
				t.Errorf("percentile(%v) = %d, want %d", tc.p, got, tc.want)
			}
		})
	}
}

func TestMedianRatioIsTakenRoundByRound(t *testing.T) {
	// The machine was ten times slower in the second round, for both arms: the
	// medians of the arms would say 2/1, the rounds say 1.2.
	over := []float64{1.2, 12, 1.1, 2, 1.3}
	under := []float64{1, 10, 1, 1, 1}
	if got := medianRatio(over, under); math.Abs(got-1.2) > 1e-9 {
		t.Errorf("medianRatio = %v, want 1.2", got)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of four = %v, want the mean of the middle two, 2.5", got)
	}
	if !math.IsNaN(median(nil)) {
		t.Error("median of nothing is a number")
	}
}

func TestOrdersGiveEveryArmEveryPlace(t *testing.T) {
	for _, n := range []int{2, 3, 4} {
		at := map[[2]int]int{}
		for round := range 12 {
			order := armOrder(n, round)
			for i, arm := range order {
				at[[2]int{i, arm}]++
				if back := order[len(order)-1-i]; back != arm {
					t.Fatalf("round %d of %d arms runs %v: not the same backwards", round, n, order)
				}
			}
		}
		for place := range 2 * n {
			for arm := range n {
				if got := at[[2]int{place, arm}]; got != 12/n {
					t.Errorf("arm %d of %d was at place %d in %d of 12 rounds, want %d", arm, n, place, got, 12/n)
				}
			}
		}
	}
}
