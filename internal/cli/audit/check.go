package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// CheckCmd is `hookctl audit check`.
type CheckCmd struct {
	Receipt string `arg:"" help:"File with the receipt; - for the standard input."`
	keyFlags
	NoPin bool `help:"Do not trust keys from the log's pin."`
}

// Help describes the exit codes.
func (CheckCmd) Help() string {
	return `Exit code 0: the record stands at its place in a log that a router signed. 40: that is not proved.`
}

// maxReceipt bounds the size of a receipt, which is a record and hashes.
const maxReceipt = 64 << 20

// Checked is the JSON form of the result.
type Checked struct {
	Proved    bool            `json:"proved"`
	Reason    string          `json:"reason,omitempty"` // why not
	Origin    string          `json:"origin,omitempty"`
	Seq       int64           `json:"seq,omitempty"`
	Position  int             `json:"position"`
	Size      int64           `json:"size,omitempty"` // of the log that was signed
	Signed    string          `json:"signed,omitempty"`
	Witnessed bool            `json:"witnessed"`
	Keys      []string        `json:"keys"` // that have signed it; if it is not proved, those that are known
	Record    json.RawMessage `json:"record,omitempty"`
}

// Run checks a receipt.
func (c *CheckCmd) Run(e *cli.Env) error {
	text, err := c.read(e.Stdin)
	if err != nil {
		return err
	}
	receipt, err := audit.ParseReceipt(text)
	if err != nil {
		return notProved(e, Checked{}, err)
	}
	said := query.ParseNote([]byte(receipt.Checkpoint)).Origin // used only to find the pin
	var pins []*pinFile
	if !c.NoPin && said != "" {
		if pins, err = readPins(e.Getenv, said); err != nil && len(c.Key) == 0 {
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
	x := Checked{Keys: verifierkeys.Texts(t.routers)}
	checkpoint, witnessed, err := receipt.Check(t.keys())
	if err != nil {
		return notProved(e, x, err)
	}
	x.Proved, x.Origin, x.Seq, x.Position, x.Witnessed = true, checkpoint.Origin, receipt.Seq, receipt.Position, witnessed
	x.Size, x.Signed, x.Record = checkpoint.Size, checkpoint.Time.Format(RecordTime), json.RawMessage(receipt.Line)
	signers := t.signers(receipt)
	x.Keys = verifierkeys.Texts(signers)
	if e.Out.Document(x) {
		return nil
	}
	e.Out.Table(x.rows(c.whose(signers, pins)))
	e.Out.Print("\n")
	record := query.Decode([]byte(receipt.Line))
	record.Seq, record.Position = receipt.Seq, receipt.Position
	showRecord(e.Out, record)
	e.Out.Print("%s\n", term.Printable(receipt.Line))
	return nil
}

func (c *CheckCmd) read(stdin io.Reader) ([]byte, error) {
	text, err := cli.ReadFile(c.Receipt, stdin, maxReceipt)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", c.Receipt, err)
	}
	return text, nil
}

func notProved(e *cli.Env, x Checked, err error) error {
	e.Exit = audit.Invalid.ExitCode()
	said, color := "NOT PROVED", term.Red
	if _, later := errors.AsType[*audit.UnknownFormatError](err); later {
		e.Exit, said, color = audit.UnknownFormat.ExitCode(), string(audit.UnknownFormat), term.Yellow
	}
	x.Reason = err.Error()
	if x.Keys == nil {
		x.Keys = []string{}
	}
	if e.Out.Document(x) {
		return nil
	}
	e.Out.Print("%s  %s\n", e.Out.Paint(term.Bold+";"+color, said), term.Printable(x.Reason))
	return nil
}

// signers returns the router keys that signed the checkpoint of a receipt. With pins of several
// logs of the same name, it considers the keys of all of them.
func (t trusted) signers(r audit.Receipt) (list []verifierkeys.Key) {
	for _, k := range t.routers {
		keys := audit.Keys{Routers: verifierkeys.Verifiers([]verifierkeys.Key{k})}
		if _, _, err := keys.Open([]byte(r.Checkpoint)); err == nil {
			list = append(list, k)
		}
	}
	return list
}

// whose names the keys, and the log whose pin has them.
func (c *CheckCmd) whose(signers []verifierkeys.Key, pins []*pinFile) string {
	text := verifierkeys.Names(signers)
	if len(c.Key) > 0 {
		return text
	}
	for _, pin := range pins {
		if !pin.of(signers) {
			continue
		}
		text += ", of the log that was verified in " + term.Printable(pin.From)
		if pin.OnTrust {
			text += ", taken on trust when it was first seen"
		}
	}
	return text
}

func (x Checked) rows(keys string) [][]term.Cell {
	witnessed := "no known witness has signed it too"
	if x.Witnessed {
		witnessed = "a witness has signed it too"
	}
	return [][]term.Cell{
		{(term.Bold + ";" + term.Green).Cell("PROVED"), term.Bold.Cell(fmt.Sprintf("the record stands at %d:%d of the log %s", x.Seq, x.Position, term.Printable(x.Origin)))},
		{term.Dim.Cell("signed"), term.Plain.Cell(fmt.Sprintf("%s, with %s; %s", x.Signed, term.Plural(int(x.Size), "message"), witnessed))},
		{term.Dim.Cell("keys"), term.Plain.Cell(keys)},
	}
}
