package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

type auditCheckCmd struct {
	Receipt string `arg:"" help:"File with the receipt; - for the standard input."`
	keyFlags
	NoPin bool `help:"Do not take keys from the pin of the log."`
}

// Help is what --help adds.
func (auditCheckCmd) Help() string {
	return `Exit code 0: the record stands at its place in a log that a router signed. 40: that is not proved.`
}

// maxReceipt bounds what is read of a receipt: a record, and hashes.
const maxReceipt = 64 << 20

// checked is the JSON form.
type checked struct {
	Proved    bool            `json:"proved"`
	Reason    string          `json:"reason,omitempty"` // why not
	Origin    string          `json:"origin,omitempty"`
	Seq       int64           `json:"seq,omitempty"`
	Position  int             `json:"position"`
	Size      int64           `json:"size,omitempty"` // of the log that was signed
	Signed    string          `json:"signed,omitempty"`
	Witnessed bool            `json:"witnessed"`
	Keys      []string        `json:"keys"`
	Record    json.RawMessage `json:"record,omitempty"`
}

// Run checks a receipt.
func (c *auditCheckCmd) Run(e *env) error {
	text, err := c.read(e.stdin)
	if err != nil {
		return err
	}
	receipt, err := audit.ParseReceipt(text)
	if err != nil {
		return e.notProved(checked{}, err)
	}
	said := query.ParseNote([]byte(receipt.Checkpoint)).Origin // only to find the pin
	var pins []*pinFile
	if !c.NoPin && said != "" {
		path, err := pinPath(e.getenv, said)
		if err == nil {
			var pin *pinFile
			if pin, err = readPin(path); err == nil {
				pins = append(pins, pin)
			}
		}
		if err != nil && len(c.Key) == 0 {
			return err
		}
	}
	t, err := c.trust(pins)
	if err != nil {
		return err
	}
	if len(t.routers) == 0 {
		return errNoKey
	}
	if err := t.keys().Check(); err != nil {
		return err
	}
	x := checked{Keys: texts(t.routers)}
	checkpoint, witnessed, err := receipt.Check(t.keys())
	if err != nil {
		return e.notProved(x, err)
	}
	x.Proved, x.Origin, x.Seq, x.Position, x.Witnessed = true, checkpoint.Origin, receipt.Seq, receipt.Position, witnessed
	x.Size, x.Signed, x.Record = checkpoint.Size, checkpoint.Time.Format(recordTime), json.RawMessage(receipt.Line)
	if e.out.json {
		e.out.document(x)
		return nil
	}
	e.out.table(x.rows(t))
	e.out.print("\n")
	record := query.Decode([]byte(receipt.Line))
	record.Seq, record.Position = receipt.Seq, receipt.Position
	e.out.record(record)
	e.out.print("%s\n", printable(receipt.Line))
	return nil
}

func (c *auditCheckCmd) read(stdin io.Reader) ([]byte, error) {
	in := stdin
	if c.Receipt != "-" {
		f, err := os.Open(c.Receipt)
		if err != nil {
			return nil, fmt.Errorf("check: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxReceipt+1))
	if err == nil && len(text) > maxReceipt {
		err = fmt.Errorf("longer than %d bytes: no receipt is", maxReceipt)
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", c.Receipt, err)
	}
	return text, nil
}

func (e *env) notProved(x checked, err error) error {
	e.exit = audit.Invalid.ExitCode()
	x.Reason = err.Error()
	if x.Keys == nil {
		x.Keys = []string{}
	}
	if e.out.json {
		e.out.document(x)
		return nil
	}
	e.out.print("%s  %s\n", e.out.paint(bold+";"+red, "NOT PROVED"), printable(x.Reason))
	return nil
}

func (x checked) rows(t trusted) [][]cell {
	witnessed := "no known witness has signed it too"
	if x.Witnessed {
		witnessed = "a witness has signed it too"
	}
	return [][]cell{
		{{"PROVED", bold + ";" + green}, {fmt.Sprintf("the record stands at %d:%d of the log %s", x.Seq, x.Position, printable(x.Origin)), bold}},
		{{"signed", dim}, {fmt.Sprintf("%s, with %s; %s", x.Signed, plural(int(x.Size), "message"), witnessed), plain}},
		{{"keys", dim}, {keyNames(t.routers), plain}},
	}
}
