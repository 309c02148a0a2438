package wire

import "strings"

// maxEcho is the maximum length of a value that a reply repeats, in bytes.
const maxEcho = 128

// Echo returns the headers that the reply to a request repeats, to prove that its sender has seen
// the request: the nonce of an agent's request or the id of a router's call, with the names as they
// were spelled. It returns nil if there are none.
func Echo(request Header) (echo Header) {
	for name, values := range request {
		if !strings.EqualFold(name, HeaderNonce) && !strings.EqualFold(name, HeaderCallID) {
			continue
		}
		if len(values) == 0 || len(values[0]) > maxEcho || oneLine(values[0]) != values[0] {
			continue
		}
		if echo == nil {
			echo = Header{}
		}
		echo[strings.Clone(name)] = []string{strings.Clone(values[0])} // cloned, so that a waiting request does not keep the whole message
	}
	return echo
}
