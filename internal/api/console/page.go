package console

import (
	"embed"
	"net/http"
)

//go:embed assets pages
var files embed.FS

// page returns the handler that answers with a page. The pages are public: they reveal nothing of
// this router.
func page(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		code := http.StatusOK
		text, err := files.ReadFile(name)
		if err != nil {
			code, text = http.StatusInternalServerError, []byte("a page is missing")
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = w.Write(text) // the client may be gone
	}
}

// asset answers GET /assets/{name}. These files are public: they reveal nothing of this router.
func (c *Console) asset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, files, "assets/"+r.PathValue("name")) //nolint:gosec // the embedded file system has no paths outside
}
