package web

import (
	"fmt"
	"net/http"
)

// Health answers a probe: 200, or 503 with the reason why the process can't serve; an empty
// reason means that it can.
func Health(w http.ResponseWriter, reason string) {
	w.Header().Set("Cache-Control", "no-store")
	if reason == "" {
		Write(w, http.StatusOK, []byte(`{"status":"ok"}`))
		return
	}
	Write(w, http.StatusServiceUnavailable, fmt.Appendf(nil, `{"status":"unavailable","reason":%q}`, reason))
}
