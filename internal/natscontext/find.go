package natscontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// Name returns the name of the context that a router writes for a role on the server at a URL. All
// loopback and unspecified addresses have the same name. It is empty if the URL has no host.
func Name(server, role string) string {
	if !strings.Contains(server, "://") {
		server = "nats://" + server
	}
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "4222"
	}
	return "hookrouter-" + strings.ReplaceAll(host, ":", "_") + "-" + port + "-" + role
}

// File returns the path of the context for a role on the first of the comma-separated servers,
// where [Find] looks first. It is empty if neither XDG_CONFIG_HOME nor HOME is set, or if the
// server's URL has no host.
func File(getenv func(string) string, servers, role string) string {
	server, _, _ := strings.Cut(servers, ",")
	dir, name := Dir(getenv), Name(strings.TrimSpace(server), role)
	if dir == "" || name == "" {
		return ""
	}
	return path(dir, name)
}

// Find returns the context for a role on the first of the comma-separated servers that has one. ok
// is false if there is none.
func Find(getenv func(string) string, servers, role string) (c Context, ok bool, err error) {
	dir := Dir(getenv)
	if dir == "" {
		return c, false, nil
	}
	for server := range strings.SplitSeq(servers, ",") {
		name := Name(strings.TrimSpace(server), role)
		if name == "" {
			continue
		}
		if _, err := os.Stat(path(dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c, err = Load(dir, name, getenv("HOME"))
		return c, err == nil, err
	}
	return c, false, nil
}

// Write atomically writes a context that only the owner can read. It creates the directory if it is
// missing.
func Write(dir, name string, c Context) error {
	text, err := json.MarshalIndent(c, "", "  ") //nolint:gosec // a context may contain a password; only the owner can read the file
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path(dir, name)), 0o700); err != nil {
		return err
	}
	if err := atomicfile.Write(path(dir, name), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write NATS context %q: %w", name, err)
	}
	return nil
}

// Remove removes a context if it still refers to a credentials file. Another program may have
// replaced it.
func Remove(dir, name, creds string) {
	if c, err := Load(dir, name, ""); err == nil && c.Creds == creds {
		_ = os.Remove(path(dir, name))
	}
}

func path(dir, name string) string { return filepath.Join(dir, "context", name+".json") }
