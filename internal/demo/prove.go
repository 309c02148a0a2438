package demo

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// signing limits the wait for the router to sign its last records.
const signing = 5 * time.Second

// prove exports the audit log of the turn, as an auditor would, and verifies the file. Then it
// verifies a copy with one changed word.
func prove(ctx context.Context, b *natsx.Conn, key note.Verifier, p *printer) error {
	file, err := export(ctx, b)
	if err != nil {
		return err
	}
	honest, err := verify(ctx, file, key)
	if err != nil {
		return err
	}
	if !honest.Verdict.OK() {
		return fmt.Errorf("verify the demo's audit log: it differs from what was signed, a bug: %s", honest)
	}
	forged, err := verify(ctx, bytes.Replace(file, []byte(`\"action\":\"deny\"`), []byte(`\"action\":\"allow\"`), 1), key)
	if err != nil {
		return err
	}
	if forged.Verdict.OK() {
		return fmt.Errorf("verify a forged audit log: it passes, a bug: %s", forged)
	}
	p.proved(honest, forged)
	return nil
}

func export(ctx context.Context, b *natsx.Conn) ([]byte, error) {
	log, err := query.Open(ctx, b)
	if err != nil {
		return nil, err
	}
	segment, err := log.Segment(ctx, 1)
	if err != nil {
		return nil, err
	}
	aim, err := log.FindExportEnd(ctx, segment, signing, func(string) {})
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	w, err := audit.NewWriter(&file, log.Header(segment))
	if err == nil {
		err = log.Export(ctx, w, aim, func(int64) {})
	}
	if err == nil {
		err = w.Flush()
	}
	return file.Bytes(), err
}

func verify(ctx context.Context, file []byte, key note.Verifier) (audit.Report, error) {
	return audit.Verify(ctx, bytes.NewReader(file), audit.Options{Keys: []note.Verifier{key}})
}
