package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// appender measures the time of one publish to an append-only log: to the router's server, as the
// router's writer does it, with the same bytes that the router wrote last. One appender runs in the
// agent's process with the agent's kind of connection, like all else that the bench times; another
// one runs in the router's process with the router's kind of connection.
type appender struct {
	connection natsx.Options

	bus     *natsx.Conn
	log     *natsx.Stream
	subject string
	body    []byte
	data    []byte // data of an event
	last    uint64
	count   int
}

// appended is the result of an appender.
type appended struct {
	Bytes int             `json:"bytes"` // of the body
	Took  []time.Duration `json:"took"`
}

// measure appends a number of times. Like the router, it appends right after calls of three hooks
// on the same connection, whose time is not included. Consecutive publishes would find all
// processors awake and the disk busy, unlike those of a router.
func (a *appender) measure(ctx context.Context, times string) (string, error) {
	n, err := strconv.Atoi(times)
	if err == nil && a.log == nil {
		err = a.open(ctx)
	}
	if err != nil {
		return "", err
	}
	answer := appended{Bytes: len(a.body)}
	for range n {
		for i := range 3 {
			if _, err := a.bus.Request(ctx, a.bus.Call(hopID(i)), wire.Header{wire.HeaderMode: {"enforce"}}, a.data); err != nil {
				return "", err
			}
		}
		began := time.Now()
		a.count++
		if a.last, err = a.log.Append(ctx, a.subject, a.subject+"-"+strconv.Itoa(a.count), a.last, a.body); err != nil {
			return "", err
		}
		answer.Took = append(answer.Took, time.Since(began))
	}
	text, err := json.Marshal(answer)
	return string(text), err
}

// open creates the log, with the settings of the audit log.
func (a *appender) open(ctx context.Context) (err error) {
	if a.bus, err = natsx.Connect(a.connection); err != nil {
		return err
	}
	written, err := a.bus.OpenStream(ctx, a.bus.AuditStream())
	if err != nil {
		return err
	}
	newest, err := written.Newest(ctx, a.bus.Of("audit", "w", "*"))
	if err != nil {
		return fmt.Errorf("read what a chain writes: %w", err)
	}
	a.data = []byte(`{"pad":"` + strings.Repeat("x", dataSize-10) + `"}`)
	a.body, a.subject = newest.Body, a.bus.Of("cost", "w", events.NewID())
	a.log, err = a.bus.CreateStream(ctx, strings.ToUpper(a.bus.Prefix())+"_COST", []string{a.bus.Of("cost", ">")}, 1)
	return err
}

func (a *appender) close() {
	if a.bus != nil {
		a.bus.Close()
	}
}

// appends runs an arm of single publishes.
func (a arm) appends(n int) (*sample, error) {
	answer, err := a.ordered(n)
	if err != nil {
		return nil, err
	}
	s := &sample{took: answer.Took}
	for _, took := range s.took {
		s.elapsed += took
	}
	return s, nil
}

func (a arm) ordered(n int) (answer appended, err error) {
	var text string
	if a.seat != nil {
		text, err = a.seat.measure(context.Background(), strconv.Itoa(n))
	} else {
		text, err = a.writer.order("append " + strconv.Itoa(n))
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	if err == nil && len(answer.Took) != n {
		err = errors.New("not as often as it was told")
	}
	if err != nil {
		return answer, fmt.Errorf("%s: %w", a.name, err)
	}
	return answer, nil
}
