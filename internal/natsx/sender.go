package natsx

import (
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"
)

// headerRequestInfo is what the server adds to a request through a service import.
const headerRequestInfo = "Nats-Request-Info"

// leastInfo is the size of the shortest such header.
const leastInfo = len(headerRequestInfo + `: {"acc":"A"}` + "\r\n\r\n")

// Sender is who sent a request through a service import of another account, as the
// server says, or "". Two conditions make that trustworthy: the server made the reply
// subject, and the header is there exactly once. A sender can smuggle a header of the
// same name past the server, beside the server's own or behind a bare blank line that
// hides it.
func (r *Request) Sender() string {
	if !strings.HasPrefix(r.msg.Reply, "_R_.") {
		return ""
	}
	text, n := "", 0
	for name, values := range r.Header {
		if strings.EqualFold(strings.TrimSpace(name), headerRequestInfo) {
			n += len(values)
			text = values[0]
		}
	}
	var info struct {
		Account string `json:"acc"`
		User    string `json:"user"`
	}
	if n != 1 || hidden(r.msg) >= leastInfo || json.Unmarshal([]byte(text), &info) != nil || info.Account == "" {
		return ""
	}
	return strings.TrimSuffix("nats "+info.Account+"/"+info.User, "/")
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
