package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// exported is a log of one message with two records, exported with its checkpoint.
func exported() []byte {
	body := audit.Record{
		Time: start, Kind: audit.HookResult, ChainID: "c1", Session: "s1", Event: "tool:pre", Hook: "guard", Action: "deny",
		Writer: "router-1", WSeq: 1, Detail: audit.Call{Reason: "no force pushes", Took: 812 * time.Microsecond},
	}.Append(nil)
	body = audit.Record{
		Time: start, Kind: audit.ChainResult, ChainID: "c1", Session: "s1", Event: "tool:pre", Action: "deny",
		Writer: "router-1", WSeq: 2, Detail: audit.Chain{DeniedBy: "guard", Called: 1},
	}.Append(body)

	var history audit.Log
	if err := history.Append(audit.Message{Subject: "hooks.audit.w.router-1", Stored: start, Body: body}); err != nil {
		log.Fatal(err)
	}
	signed, err := history.Checkpoint(audit.Latest, origin, start, tlog.Hash{}).Sign(router.Signer)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	w, err := audit.NewWriter(&file, audit.Header{Origin: origin, Prefix: "hooks"})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Message(1, start, "hooks.audit.w.router-1", body); err != nil {
		log.Fatal(err)
	}
	if err := w.Checkpoint(signed); err != nil {
		log.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

func ExampleRecord_Append() {
	r := audit.Record{
		Time: start, Kind: audit.HookTimeout, ChainID: "c1", Session: "s1", Event: "tool:pre", Hook: "guard", Action: "continue",
		Detail: audit.Call{Failure: "timeout", FailedOpen: true, Took: 5 * time.Second},
	}
	fmt.Printf("%s", r.Append(nil))
	// Output: {"time":"2026-03-01T12:00:00.000Z","kind":"hook.timeout","chain_id":"c1","session_id":"s1","event":"tool:pre","hook":"guard","action":"continue","failure":"timeout","failed_open":true,"us":5000000}
}

func ExampleVerify() {
	file := exported()
	options := audit.Options{Keys: []note.Verifier{router.Verifier}}
	report, err := audit.Verify(context.Background(), bytes.NewReader(file), options)
	fmt.Println(report.Verdict, report.Records, err)

	options.Pin = report.Pin // seen and kept
	report, _ = audit.Verify(context.Background(), bytes.NewReader(file), options)
	fmt.Println(report, report.Verdict.ExitCode())

	forged := bytes.Replace(file, []byte("no force pushes"), []byte("fine by me..."), 1)
	report, _ = audit.Verify(context.Background(), bytes.NewReader(forged), audit.Options{Keys: options.Keys})
	fmt.Println(report, report.Verdict.ExitCode())
	// Output:
	// OK-UNANCHORED 2 <nil>
	// OK-PINNED 1 message goes on from a head that was seen before 10
	// INVALID line 3, sequence 1: the records up to sequence 1 are not the ones that were signed 40
}

func ExampleProve() {
	receipt, err := audit.Prove(context.Background(), bytes.NewReader(exported()), 1, 0)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(receipt) // to be handed over
	if err != nil {
		log.Fatal(err)
	}

	receipt, err = audit.ParseReceipt(text)
	if err != nil {
		log.Fatal(err)
	}
	checkpoint, witnessed, err := receipt.Check(audit.Keys{Routers: []note.Verifier{router.Verifier}})
	fmt.Println(checkpoint.Origin, checkpoint.Size, witnessed, err)

	receipt.Seq++
	_, _, err = receipt.Check(audit.Keys{Routers: []note.Verifier{router.Verifier}})
	fmt.Println(err)
	// Output:
	// hooks/HOOKS_AUDIT 1 false <nil>
	// check receipt: the sequence or the position is outside of what the checkpoint covers
}

func ExampleCosign() {
	report, err := audit.Verify(context.Background(), bytes.NewReader(exported()), audit.Options{Keys: []note.Verifier{router.Verifier}})
	if err != nil || !report.Verdict.OK() {
		log.Fatal(report, err)
	}
	signed, err := report.Head.Sign(router.Signer) // as it stands in the export
	if err != nil {
		log.Fatal(err)
	}
	keys := audit.Keys{Routers: []note.Verifier{router.Verifier}, Witnesses: []note.Verifier{witness.Verifier}}
	both, err := audit.Cosign(signed, keys, witness.Signer)
	if err != nil {
		log.Fatal(err)
	}
	_, witnessed, err := keys.Open(both)
	fmt.Println(witnessed, err)
	// Output: true <nil>
}

func ExampleReader() {
	r, err := audit.NewReader(bytes.NewReader(exported()))
	if err != nil {
		log.Fatal(err)
	}
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		fmt.Println(e.Line, e.Seq, len(e.Lines), e.Checkpoint != nil)
	}
	// Output:
	// 2 1 2 false
	// 3 0 0 true
}
