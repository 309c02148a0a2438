package audit_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// chainBody is what a chain of three hooks writes, of n chains in one message.
func chainBody(m *maker, n int) []byte {
	var body []byte
	add := func(r audit.Record) {
		m.wseq[0]++
		r.Time, r.ChainID, r.Session, r.Event = start, fmt.Sprintf("0199-%016x", m.wseq[0]), "session-7f3a", "tool:pre"
		r.Writer, r.WSeq = "router-5d9f7c", m.wseq[0]
		body = r.Append(body)
	}
	data := json.RawMessage(`{"tool_name":"bash","tool_input":{"command":"git push --force origin main"}}`)
	for range n {
		for _, hook := range []string{"guard", "format", "budget"} {
			add(audit.Record{Kind: audit.HookResult, Hook: hook, Action: "continue", Detail: audit.Call{Took: 812 * time.Microsecond}})
		}
		in := &audit.Data{SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Salt: "2026-03-01", Value: data, Redacted: true}
		add(audit.Record{Kind: audit.ChainResult, Action: "continue", Detail: audit.Chain{Agent: "agents/reviewer", Called: 3, Took: 3 * time.Millisecond, In: in}})
	}
	return body
}

// stream writes an export of at least size bytes, perMessage chains in a message and a
// checkpoint every 256 messages.
func stream(out io.Writer, size int64, perMessage int) error {
	m := maker{signer: router.Signer}
	count := &counter{to: out}
	w, err := audit.NewWriter(count, audit.Header{Origin: origin, Prefix: "hooks"})
	for err == nil && (count.n < size || m.log.Size()%256 != 0) {
		m.add(chainBody(&m, perMessage))
		err = w.Message(m.log.Size(), start, "hooks.audit.w.router", m.parts[0].body)
		if err == nil && m.log.Size()%256 == 0 {
			m.sign()
			err = w.Checkpoint(m.parts[1].checkpoint)
		}
		m.parts = m.parts[:0]
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.to.Write(b)
}

// plainly takes the SHA-256 of each line of a file, and nothing else.
func plainly(file []byte) (sum [sha256.Size]byte) {
	in := bufio.NewReaderSize(bytes.NewReader(file), 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return sum
		}
		sum = sha256.Sum256(line)
	}
}

// BenchmarkVerify measures verification next to plain SHA-256 of each line of the
// same file, in turns in the same run, and fails where it has less than a quarter of that
// throughput.
func BenchmarkVerify(b *testing.B) {
	for _, perMessage := range []int{1, 16} {
		b.Run(fmt.Sprintf("chains in a message: %d", perMessage), func(b *testing.B) {
			var out bytes.Buffer
			if err := stream(&out, 20<<20, perMessage); err != nil {
				b.Fatal(err)
			}
			file := out.Bytes()
			plain, verified := time.Hour, time.Hour // the best round of each: others use the machine too
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				began := time.Now()
				plainly(file)
				plain = min(plain, time.Since(began))
				began = time.Now()
				r := verify(b, file, trusted())
				verified = min(verified, time.Since(began))
				if r.Verdict != audit.OKUnanchored {
					b.Fatal(r)
				}
				b.ReportMetric(float64(r.Records), "records")
			}
			ratio := float64(plain) / float64(verified)
			b.ReportMetric(ratio, "of-plain-sha256")
			b.ReportMetric(float64(len(file))/verified.Seconds()/1e6, "verify-MB/s")
			if ratio < 0.25 {
				b.Errorf("verification has %.2f of the throughput of plain SHA-256, less than 0.25", ratio)
			}
		})
	}
}
