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

// signing is how long the proof waits for the router to sign what it wrote last.
const signing = 5 * time.Second

// prove takes the audit log of the turn out into a file, as an auditor would, and
// verifies it; then once more with one word changed.
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
		return fmt.Errorf("the audit log of the demo is not what was signed, a defect: %s", honest)
	}
	forged, err := verify(ctx, bytes.Replace(file, []byte(`\"action\":\"deny\"`), []byte(`\"action\":\"allow\"`), 1), key)
	if err != nil {
		return err
	}
	if forged.Verdict.OK() {
		return fmt.Errorf("a changed audit log passes, a defect: %s", forged)
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
	aim, err := log.Aim(ctx, segment, signing, func(string) {})
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
