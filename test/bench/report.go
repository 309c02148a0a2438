package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// report is the result of a run.
type report struct {
	Environment machine  `json:"environment"`
	Disk        *disk    `json:"disk,omitempty"` // nil where nothing was written to it
	LoadAfter   string   `json:"load_after"`
	Short       bool     `json:"short"`
	Rounds      int      `json:"rounds"`
	Rows        []row    `json:"chains"`
	Figures     []figure `json:"figures"`
	Valid       bool     `json:"valid"`

	// The volume.
	Chains        int          `json:"chains_sent"`
	Hops          int          `json:"hooks_called"`
	Registrations atomic.Int64 `json:"-"`
	Collects      int          `json:"collects"`
	Starts        int          `json:"starts"`
	Elapsed       string       `json:"elapsed"`
}

// row is one comparison of the router with the floor. Times and rates are over
// all rounds; ratios are medians of the rounds' ratios.
type row struct {
	Hops     int `json:"hops"`
	InFlight int `json:"in_flight"`

	Router timing `json:"router"`
	Floor  timing `json:"floor"`

	P50Ratio     float64 `json:"p50_ratio"`
	P99Ratio     float64 `json:"p99_ratio"` // of all rounds together
	RateRatio    float64 `json:"rate_ratio"`
	FloorToFloor float64 `json:"floor_to_floor"` // p50 at one in flight, else the rate
}

// timing is the measured times and the rate of one arm.
type timing struct {
	P50Micros float64 `json:"p50_us"`
	P99Micros float64 `json:"p99_us"`
	Rate      float64 `json:"chains_per_s"`
}

// figure is a value with an upper or a lower limit.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Most  float64 `json:"most,omitempty"`
	Least float64 `json:"least,omitempty"`
	Note  string  `json:"note,omitempty"`

	// NotJudged says why the figure is not held against its target; empty where it is.
	NotJudged string `json:"not_judged,omitempty"`
}

func (f figure) ok() bool {
	return f.NotJudged != "" || !math.IsNaN(f.Value) && (f.Most == 0 || f.Value <= f.Most) && f.Value >= f.Least
}

func (f figure) target() string {
	if f.Most != 0 {
		return fmt.Sprintf("<= %g", f.Most)
	}
	return fmt.Sprintf(">= %g", f.Least)
}

func (r *report) add(f figure) { r.Figures = append(r.Figures, f) }

// addBeside adds a figure relative to an arm that ran twice in each round; itself is the ratio of
// the two. If it is too far from 1, the run is invalid, unless the figure is not judged.
func (r *report) addBeside(f figure, itself float64) {
	f.Note += fmt.Sprintf("; what it is compared with, over itself: %.3f", itself)
	r.Figures = append(r.Figures, f)
	if f.NotJudged == "" && !same(itself) {
		r.Valid = false
	}
}

// same reports whether the ratio of an arm to itself is close enough to 1 for a valid run.
func same(itself float64) bool { return itself >= 0.95 && itself <= 1.05 }

// addRow adds a comparison of the router with both arms of the floor.
func (r *report) addRow(hops, inFlight int, router, floorA, floorB []*sample) {
	floor := make([]*sample, len(floorA))
	for i := range floor {
		floor[i] = merge(floorA[i], floorB[i])
	}
	c := row{
		Hops: hops, InFlight: inFlight, Router: timingOf(router), Floor: timingOf(floor),
		P50Ratio:  medianRatio(p50s(router), p50s(floor)),
		RateRatio: medianRatio(rates(router), rates(floor)),
	}
	c.P99Ratio = c.Router.P99Micros / c.Floor.P99Micros
	if inFlight == 1 {
		c.FloorToFloor = medianRatio(p50s(floorA), p50s(floorB))
	} else {
		c.FloorToFloor = medianRatio(rates(floorA), rates(floorB))
	}
	if !same(c.FloorToFloor) {
		r.Valid = false
	}
	r.Rows = append(r.Rows, c)
}

func timingOf(rounds []*sample) timing {
	all := merge(rounds...)
	micros := func(d time.Duration) float64 { return float64(d) / 1e3 }
	return timing{micros(all.p50()), micros(percentile(all.took, 0.99)), all.rate()}
}

// judgeFloor adds figures for the rows that have a target.
func (r *report) judgeFloor() {
	for _, c := range r.Rows {
		switch {
		case c.Hops == 3 && c.InFlight == 1:
			r.add(figure{Name: "p50 of a 3-hop chain over the floor, one in flight", Value: c.P50Ratio, Unit: "x", Most: 1.20})
		case c.InFlight == 64:
			r.add(figure{Name: fmt.Sprintf("chains/s over the floor, %d hop(s), 64 in flight", c.Hops), Value: c.RateRatio, Unit: "x", Least: 0.80})
		}
	}
}

// exitCode returns the exit code for the run.
func (r *report) exitCode() int {
	if !r.Valid {
		return codeInvalid
	}
	for _, f := range r.Figures {
		if !f.ok() && !r.Short {
			return codeMissed
		}
	}
	return 0
}

func (r *report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		*report
		Registrations int64 `json:"registrations"`
	}{r, r.Registrations.Load()})
}

func (r *report) writeTable(w io.Writer) error {
	m := r.Environment
	fmt.Fprintf(w, "%s, %d cores, %s, %s, nats-server %s, load before %s, after %s\n\n",
		m.CPU, m.Cores, m.OS, m.Go, m.Server, m.LoadBefore, r.LoadAfter)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(r.Rows) > 0 {
		fmt.Fprintf(tab, "hops\tin flight\trouter p50\tp99\tchains/s\tfloor p50\tp99\tchains/s\tp50 ratio\tp99 ratio\tchains/s ratio\tfloor/floor\t\n")
	}
	for _, c := range r.Rows {
		fmt.Fprintf(tab, "%d\t%d\t%.0f us\t%.0f us\t%.0f\t%.0f us\t%.0f us\t%.0f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", c.Hops, c.InFlight,
			c.Router.P50Micros, c.Router.P99Micros, c.Router.Rate, c.Floor.P50Micros, c.Floor.P99Micros, c.Floor.Rate,
			c.P50Ratio, c.P99Ratio, c.RateRatio, c.FloorToFloor)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if r.Disk != nil {
		fmt.Fprintf(w, "%s\n\n", r.Disk)
	}
	tab = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Figures {
		verdict := "ok"
		switch {
		case f.NotJudged != "":
			verdict = "not judged: " + f.NotJudged
		case !f.ok():
			verdict = "MISSED"
		}
		fmt.Fprintf(tab, "%s\t%.3f %s\t%s\t%s\t%s\n", f.Name, f.Value, f.Unit, f.target(), verdict, f.Note)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nvolume: %d chains, %d hooks called, %d registrations, %d collects, %d starts, %d rounds, %s\n",
		r.Chains, r.Hops, r.Registrations.Load(), r.Collects, r.Starts, r.Rounds, r.Elapsed)
	switch {
	case !r.Valid:
		fmt.Fprintln(w, "NOT VALID: an arm differs from itself by more than 5 %: the machine is too busy, run it again")
	case r.Short:
		fmt.Fprintln(w, "valid: each arm that ran twice is itself within 5 %; a short run judges nothing else")
	default:
		fmt.Fprintln(w, "valid: each arm that ran twice is itself within 5 %")
	}
	return nil
}

// String returns the row in one line.
func (c *row) String() string {
	return fmt.Sprintf("%d hop(s), %d in flight: p50 %.3f, chains/s %.3f of the floor; floor to floor %.3f",
		c.Hops, c.InFlight, c.P50Ratio, c.RateRatio, c.FloorToFloor)
}
