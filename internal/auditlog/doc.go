// Package auditlog is one router replica's access to the audit log: it opens the streams, writes
// records, signs checkpoints and watches the streams' settings.
//
//	log, err := auditlog.Open(ctx, conn, auditlog.Options{Recorder: recorder.Options{ID: id}, Key: key})
//	go log.Run(ctx)
//	err = log.Record(ctx, lines) // before the answer
//
// # Parts
//
// [store] holds segments, checkpoints and decisions in NATS. [recorder] writes records in batches.
// [signer] signs checkpoints. Outside of the router, [witness] co-signs them, and [query] reads
// records and exports them. Package pkg/audit defines the format and verifies it.
//
// # Failure
//
// [Log.Ready] returns why the router must not serve: the stream is not append-only, or, in strict
// mode, it takes no records. In strict mode, [Log.Record] returns an error if the log did not store
// the records in time; the router must not answer then.
//
// [store]: github.com/hookrouter/hookrouter/internal/auditlog/store
// [recorder]: github.com/hookrouter/hookrouter/internal/auditlog/recorder
// [signer]: github.com/hookrouter/hookrouter/internal/auditlog/signer
// [witness]: github.com/hookrouter/hookrouter/internal/auditlog/witness
// [query]: github.com/hookrouter/hookrouter/internal/auditlog/query
package auditlog
