// Package auditlog is the audit log as one router replica uses it: it opens the streams,
// writes records, signs checkpoints and watches the streams' settings.
//
//	log, err := auditlog.Open(ctx, conn, auditlog.Options{Recorder: recorder.Options{ID: id}, Key: key})
//	go log.Run(ctx)
//	err = log.Record(ctx, lines) // before the answer
//
// # Parts
//
// [store] holds segments, checkpoints and decisions in NATS; [recorder] writes records in
// batches; [signer] signs checkpoints. Outside of the router, [witness] co-signs them and
// [query] reads records and exports. The format of it all, and the verifier, are in
// pkg/audit.
//
// # Failure
//
// [Log.Ready] says why the log does not allow to serve: its stream is not append-only, or
// in strict mode it takes no records. [Log.Record] fails in strict mode when the log did
// not take the records in time; then nothing may be answered.
//
// [store]: github.com/hookrouter/hookrouter/internal/auditlog/store
// [recorder]: github.com/hookrouter/hookrouter/internal/auditlog/recorder
// [signer]: github.com/hookrouter/hookrouter/internal/auditlog/signer
// [witness]: github.com/hookrouter/hookrouter/internal/auditlog/witness
// [query]: github.com/hookrouter/hookrouter/internal/auditlog/query
package auditlog
