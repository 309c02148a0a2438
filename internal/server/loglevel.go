package server

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// levelPage shows the log level to people of the console. Only those who may freeze agents change
// it: level debug logs every permitted event, and level error hides denials.
type levelPage struct {
	level *slog.LevelVar
	log   *slog.Logger
	may   func(r *http.Request) (who string, ok bool)
}

// ServeHTTP answers GET with the level, and PUT with a level as its body.
func (p *levelPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.Method == http.MethodGet:
		_, _ = fmt.Fprintln(w, strings.ToLower(p.level.Level().String()))
	case r.Method == http.MethodPut:
		p.put(w, r)
	default:
		w.Header().Set("Allow", "GET, PUT")
		http.Error(w, "GET shows the level, PUT changes it", http.StatusMethodNotAllowed)
	}
}

func (p *levelPage) put(w http.ResponseWriter, r *http.Request) {
	who, ok := p.may(r)
	if !ok {
		http.Error(w, who+" may not change the log level: that requires the right to freeze agents, which the operator grants with --console-freeze", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64))
	var level slog.Level
	if err == nil {
		err = level.UnmarshalText([]byte(strings.TrimSpace(string(body))))
	}
	if err != nil {
		http.Error(w, "the body must be debug, info, warn or error", http.StatusBadRequest)
		return
	}
	p.level.Set(level)
	p.log.Warn("log level changed", "to", level, "by", who)
	_, _ = fmt.Fprintln(w, strings.ToLower(level.String()))
}
