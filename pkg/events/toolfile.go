package events

import (
	"strconv"
	"strings"
)

// addFiles adds the paths of file: URLs to a tool's paths. A fetch without other paths becomes a read.
func (t *Tool) addFiles() {
	m, named := members{paths: t.Paths}, len(t.Paths)
	for _, list := range [...][]string{t.Paths, t.URLs} {
		for _, text := range list {
			if path, ok := filePath(text); ok {
				m.add(&m.paths, path)
			}
		}
	}
	t.Paths, t.Partial = m.paths, t.Partial || m.partial
	if t.Operation == OperationFetch && named == 0 && len(t.Paths) > 0 {
		t.Operation = OperationRead
	}
}

// filePath returns the path of a file: URL as browsers read it: in any case, without the host, and
// behind other schemes, as in view-source:file:///x.
func filePath(text string) (path string, ok bool) {
	for range 4 {
		scheme, rest, found := strings.Cut(text, ":")
		if !found {
			break
		}
		switch scheme = withoutBreaks(scheme); {
		case scheme == "" || strings.ContainsFunc(scheme, notInScheme):
			return "", false
		case strings.EqualFold(scheme, "file"):
			return pathOfURL(withoutBreaks(rest)), true
		}
		text = rest
	}
	return "", false
}

// withoutBreaks removes the characters that browsers ignore in a URL.
func withoutBreaks(text string) string {
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if !strings.ContainsAny(text, "\t\r\n") {
		return text
	}
	return strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text)
}

func notInScheme(r rune) bool {
	return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r)
}

// pathOfURL returns the path in the text after "file:".
func pathOfURL(rest string) string {
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	path := strings.ReplaceAll(rest, `\`, "/")
	if host, ok := strings.CutPrefix(path, "//"); ok && !strings.HasPrefix(host, "~") {
		_, path, _ = strings.Cut(host, "/")
	}
	path = percentDecoded(strings.TrimLeft(path, "/"))
	if strings.HasPrefix(path, "~") || len(path) > 1 && path[1] == ':' { // C:/
		return path
	}
	return "/" + path
}

// percentDecoded decodes percent escapes. It keeps a % that does not begin one.
func percentDecoded(text string) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(b))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ToValidUTF8(string(out), "\ufffd")
}
