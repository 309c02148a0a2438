package console

import (
	"embed"
	"net/http"

	"github.com/hookrouter/hookrouter/internal/wire"
)

//go:embed assets pages
var files embed.FS

// page answers GET /: the console for those who have a session, a session for
// those who have the token, and else where the token stands.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("token"); token != "" {
		err := c.access.try(r, token)
		if err == nil {
			c.access.setCookie(w, r)
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		c.o.Log.Warn("console access refused", "address", r.RemoteAddr, "error", err)
		if wire.CodeOf(err) != http.StatusUnauthorized {
			c.refuse(w, r, err)
			return
		}
		html(w, http.StatusUnauthorized, "pages/denied.html")
		return
	}
	if !c.access.hasCookie(r) {
		html(w, http.StatusUnauthorized, "pages/denied.html")
		return
	}
	html(w, http.StatusOK, "pages/index.html")
}

func html(w http.ResponseWriter, code int, name string) {
	text, err := files.ReadFile(name)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte("a page is missing")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text) // the client is gone, if anything
}

// asset answers GET /assets/{name}. These files are public: they say nothing of
// this router.
func (c *Console) asset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, files, "assets/"+r.PathValue("name")) //nolint:gosec // the embedded files hold no path outside
}
