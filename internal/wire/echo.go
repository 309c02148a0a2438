package wire

import "strings"

// maxEcho bounds what a reply repeats of its request, in bytes.
const maxEcho = 128

// Echo returns the headers that the reply to a request repeats, which prove that whoever
// replied has seen the request: the nonce of an agent's request and the id of a router's
// call, with the names as they were spelled. It is nil where there is none.
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
		echo[strings.Clone(name)] = []string{strings.Clone(values[0])} // of a request that waits, nothing else stays
	}
	return echo
}
