package service

import (
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// headerRequestInfo is the header that the server adds to a request through a service import.
const headerRequestInfo = "Nats-Request-Info"

// leastInfo is the size of the shortest such header, without the account's name.
const leastInfo = len(headerRequestInfo + `: {"acc":""}` + "\r\n\r\n")

// Sender identifies the sender of a request through a service import of another account.
type Sender struct {
	Account string `json:"acc"`
	User    string `json:"user"` // empty if the account does not share it
}

// String returns a text like "nats AGENTS/coder"; empty for the zero Sender.
func (s Sender) String() string {
	if s.Account == "" {
		return ""
	}
	return strings.TrimSuffix("nats "+s.Account+"/"+s.User, "/")
}

// Sender returns the sender of a request through a service import of another account, as reported
// by the server in a header. It is zero for a request from the router's own account. The header is
// trusted under two conditions: the server made the reply subject, and the header's name occurs
// exactly once in all headers, in any case. A sender can smuggle in a header of that name: next to
// the server's own, before a bare blank line that hides the server's, or before an unterminated
// line that absorbs it. The sender is then unknown, and the error has code 403. It must not be
// treated as zero, which no freeze covers and which has no labels.
//
// A message does not reveal two bytes for each header: a blank and a carriage return that the
// sender may have left out. A request with so many headers that these bytes could be the server's
// header is rejected too. shortest is the length of the shortest account name: with 1 the limit is
// 16 headers, with the 56 of a public key 44.
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

// mentions counts the occurrences of the header's name in a text, in any case. It searches for the
// first dash of the name, which is rarer than its letters.
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

// parseSender parses the server's JSON. That for an account that shares nothing begins with the
// account, and is parsed without a decoder.
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

// hidden returns the maximum number of bytes that may follow the headers that were parsed: the size
// of the message less their minimum size. A status in the first line is parsed into headers that
// are much longer than itself.
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
