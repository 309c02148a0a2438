package synccheck_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hookrouter/hookrouter/internal/auditlog/synccheck"
)

func TestProve(t *testing.T) {
	t.Parallel()
	answering := func(code int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/jsz" || r.URL.Query().Get("config") != "true" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	synced := answering(http.StatusOK, `{"config":{"sync_always":true}}`)
	lazy := answering(http.StatusOK, `{"config":{"sync_interval":120000000000}}`)
	for name, c := range map[string]struct {
		servers      []string
		proved, lazy bool
	}{
		"each write is synced":            {[]string{synced, synced + "/"}, true, false},
		"one of several does not sync":    {[]string{synced, lazy}, false, true},
		"no server":                       {nil, false, false},
		"an answer without configuration": {[]string{answering(http.StatusOK, `{}`)}, false, false},
		"an answer that is no JSON":       {[]string{answering(http.StatusOK, `hello`)}, false, false},
		"an error":                        {[]string{answering(http.StatusForbidden, `{"config":{"sync_always":true}}`)}, false, false},
		"nobody there":                    {[]string{"http://127.0.0.1:1"}, false, false},
		"no address":                      {[]string{"::"}, false, false},
	} {
		err := synccheck.Prove(t.Context(), c.servers)
		if (err == nil) != c.proved || errors.Is(err, synccheck.ErrLazy) != c.lazy {
			t.Errorf("%s: %v", name, err)
		}
	}
}
