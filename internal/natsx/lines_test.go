package natsx_test

import (
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// drip is a server whose connections pass on at most n bytes at a time.
type drip struct {
	natsx.InProcess
	n int
}

type drop struct {
	net.Conn
	n int
}

func (d drip) InProcessConn() (net.Conn, error) {
	c, err := d.InProcess.InProcessConn()
	return drop{c, d.n}, err
}

func (d drop) Read(p []byte) (int, error) { return d.Conn.Read(p[:min(d.n, len(p))]) }

// TestASubjectIsOneWord: a carriage return in a subject, which the server passes on, neither ends the
// connection nor chooses the subscription, wherever the network splits the messages.
func TestASubjectIsOneWord(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	sender, err := nats.Connect("", nats.InProcessServer(s), nats.SkipSubjectValidation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	payloads := []string{"", "\r", "\r\n", "a\rb", "MSG a.x 1 5\r\nhello\r\n", strings.Repeat("\r\nHMSG 3", 5000)}
	for _, n := range []int{1, 2, 3, 7, 1 << 20} {
		conn, err := natsx.Connect(natsx.Options{InProcess: drip{s, n}})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan *natsx.Message, 64)
		for _, subject := range []string{"other", "a.>"} { // the sender below chooses the first
			if _, err := conn.Subscribe(subject, func(m *natsx.Message) { got <- m }); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Conn().Flush(); err != nil {
			t.Fatal(err)
		}
		for _, payload := range payloads {
			for _, m := range []nats.Msg{
				{Subject: "a.x\r1"}, {Subject: "a.\r\r1\r"}, {Subject: "a.x", Reply: "r\r1"}, {Subject: "a.x", Reply: "r"}, {Subject: "a.x\r1", Reply: "r", Header: nats.Header{"A": {"b"}}},
			} {
				m.Data = []byte(payload)
				if err := sender.PublishMsg(&m); err != nil {
					t.Fatal(err)
				}
				is, want := testkit.Receive(t, "a message", got), strings.NewReplacer("\r", "?")
				if is.Sub.Subject != "a.>" || is.Subject != want.Replace(m.Subject) || is.Reply != want.Replace(m.Reply) || string(is.Data) != payload || is.Header.Get("A") != m.Header.Get("A") {
					t.Errorf("%d bytes at a time: %q %q came to %q as %q %q %.20q", n, m.Subject, m.Reply, is.Sub.Subject, is.Subject, is.Reply, is.Data)
				}
			}
		}
		conn.Close()
	}
}
