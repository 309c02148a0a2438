package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// verify exports the log of the strict router of a pair, and measures its verification on one core
// relative to plain SHA-256 of each line of the same file.
func (b *bench) verify(ctx context.Context, p *pair) error {
	file, err := b.export(ctx, p)
	if err != nil {
		return fmt.Errorf("export the log: %w", err)
	}
	key, err := os.ReadFile(filepath.Join(p.dir, keyFile+".pub"))
	if err != nil {
		return fmt.Errorf("read the key of the log: %w", err)
	}
	verifier, err := note.NewVerifier(strings.TrimSpace(string(key)))
	if err != nil {
		return fmt.Errorf("read the key of the log: %w", err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over, speed []float64
	var report audit.Report
	for range max(b.rounds/4, 3) {
		verified := 0.0
		plain, err := cpu(func() error { return plainly(file) })
		if err == nil {
			verified, err = cpu(func() (err error) {
				report, err = audit.Verify(ctx, bytes.NewReader(file), audit.Options{Keys: []note.Verifier{verifier}})
				return err
			})
		}
		if err != nil {
			return err
		}
		if report.Verdict != audit.OKUnanchored {
			return fmt.Errorf("the log is not as it was signed: %s: %s (sequence %d)", report.Verdict, report.Reason, report.Seq)
		}
		over = append(over, plain/verified)
		speed = append(speed, float64(len(file))/verified/1e6)
	}
	b.report.add(figure{
		Name: "verify of that log, one core, over plain SHA-256 of each line", Unit: "x", Value: median(over), Least: 0.25,
		Note: fmt.Sprintf("%.0f MB/s; %d records in %d messages, %d checkpoints, %.0f MB",
			median(speed), report.Records, report.Messages, report.Checkpoints, float64(len(file))/1e6),
	})
	return nil
}

// export returns the log as an auditor gets it.
func (b *bench) export(ctx context.Context, p *pair) ([]byte, error) {
	reader, err := natsx.New(p.strict.conn, prefixRouter, nil)
	if err != nil {
		return nil, err
	}
	log, err := query.Open(ctx, reader)
	if err != nil {
		return nil, err
	}
	live, err := log.Segment(ctx, 0)
	if err != nil {
		return nil, err
	}
	aim, err := log.FindExportEnd(ctx, live, 30*time.Second, func(string) {})
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	w, err := audit.NewWriter(&file, log.Header(live))
	if err != nil {
		return nil, err
	}
	if err := log.Export(ctx, w, aim, func(int64) {}); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// cpu returns the CPU time of do in seconds. Nothing else runs in this process, so it is the time
// that do takes on a free core.
func cpu(do func() error) (seconds float64, err error) {
	before, err := used()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := used()
	return (after - before).Seconds(), err
}

// plainly computes the SHA-256 of each line of a file. No line of the bench is longer than the
// buffer.
func plainly(file []byte) error {
	in := bufio.NewReaderSize(bytes.NewReader(file), 1<<20)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_ = sha256.Sum256(line)
	}
}
