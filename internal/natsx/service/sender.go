package service

import (
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// headerRequestInfo is what the server adds to a request through a service import.
const headerRequestInfo = "Nats-Request-Info"

// leastInfo is the size of the shortest such header, without the name of the account.
const leastInfo = len(headerRequestInfo + `: {"acc":""}` + "\r\n\r\n")

// Sender is who sent a request through a service import of another account.
type Sender struct {
	Account string `json:"acc"`
	User    string `json:"user"` // empty where the account does not share it
}

// String is like "nats AGENTS/coder"; empty where nobody is known.
func (s Sender) String() string {
	if s.Account == "" {
		return ""
	}
	return strings.TrimSuffix("nats "+s.Account+"/"+s.User, "/")
}

// Sender is who sent a request through a service import of another account, as the
// server says; the zero Sender is nobody, for a request from the router's own account. Two
// conditions make it trustworthy: the server made the reply subject, and the name of its header
// occurs once in all headers, in any case. A sender can smuggle a header of the same name past the
// server: beside the server's own, before a bare blank line that hides it, or before a line
// without an end that it becomes part of. Then nobody can say who sent the request, and the
// error has code 403: a sender must not become nobody, who is in no freeze and has no labels.
//
// What a message does not show of itself is two bytes for each header: a blank and a carriage
// return that the sender may have left out. A request with so many headers that these could be
// the server's header is refused too. shortest is the length of the shortest name of an account:
// with 1 that is 16 headers, with the 56 of a public key 44.
func (r *Request) Sender(shortest int) (Sender, error) {
	if !r.read {
		r.read = true
		r.sender, r.hidden = r.readSender(shortest)
	}
	return r.sender, r.hidden
}

func (r *Request) readSender(shortest int) (s Sender, err error) {
	n := 0
	for name, values := range r.Header {
		for _, value := range values {
			n += mentions(name) + mentions(value)
		}
	}
	imported := strings.HasPrefix(r.msg.Reply, "_R_.")
	if !imported && n == 0 {
		return s, nil
	}
	if text := r.Header[headerRequestInfo]; imported && n == 1 && len(text) == 1 && hidden(r.msg) < leastInfo+shortest {
		s = parseSender(text[0])
	}
	if s.Account == "" {
		return Sender{}, wire.Errorf(wire.Forbidden, "the headers of the request hide who sent it")
	}
	return s, nil
}

// mentions counts the header's name in a text, in any case. It looks for the first dash of the
// name, which is rarer than its letters.
func mentions(text string) (n int) {
	const dash = len("Nats")
	for {
		i := strings.IndexByte(text, '-')
		if i < 0 || len(text)-i < len(headerRequestInfo)-dash {
			return n
		}
		if i >= dash && strings.EqualFold(text[i-dash:i-dash+len(headerRequestInfo)], headerRequestInfo) {
			n++
		}
		text = text[i+1:]
	}
}

// parseSender reads the server's JSON. What it writes of an account that shares nothing
// begins with the account, and needs no decoder.
func parseSender(text string) (s Sender) {
	if rest, ok := strings.CutPrefix(text, `{"acc":"`); ok {
		if account, rest, ok := strings.Cut(rest, `","rtt":`); ok && !strings.ContainsAny(account, `"\\`) && !strings.Contains(rest, ",") {
			return Sender{Account: account}
		}
	}
	if json.Unmarshal([]byte(text), &s) != nil {
		return Sender{}
	}
	return s
}

// hidden is the most that may follow, in bytes, behind the headers that could be parsed:
// the size of the message less the least that those take. A status in the first line is
// parsed as headers, which it is much shorter than.
func hidden(m *nats.Msg) int {
	left := m.Size() - len(m.Subject) - len(m.Reply) - len(m.Data) - len("NATS/1.0\n\n")
	for name, values := range m.Header {
		if name == "Status" || name == "Description" {
			continue
		}
		for _, value := range values {
			left -= len(name) + len(value) + len(":\n")
		}
	}
	return left
}
