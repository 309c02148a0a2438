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

// appender measures what one publish to an append-only log costs: to the router's server,
// as the router's writer does it, of the very bytes that the router wrote last. One sits
// where the agent does, as all that the bench times, over the agent's kind of connection;
// another in the router's process, over the router's.
type appender struct {
	connection natsx.Options

	bus     *natsx.Conn
	log     *natsx.Stream
	subject string
	body    []byte
	data    []byte // of an event
	last    uint64
	count   int
}

// appended is the answer of an appender.
type appended struct {
	Bytes int             `json:"bytes"` // of the body
	Took  []time.Duration `json:"took"`
}

// measure appends so many times, each where the router does it: right behind calls of
// three hooks, over the same connection, which are not part of the time. Publishes that
// follow each other at once would find every processor awake and the disk at work, as no
// answer of a router does.
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

// open makes the log, with the settings of the audit log.
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
