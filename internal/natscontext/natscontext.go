package natscontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Context is the part of a context file of the nats command line that says how to connect.
type Context struct {
	Description string `json:"description,omitempty"`
	URL         string `json:"url"`
	User        string `json:"user,omitempty"`
	Password    string `json:"password,omitempty"`
	Token       string `json:"token,omitempty"`
	Creds       string `json:"creds,omitempty"`
	NKey        string `json:"nkey,omitempty"`
	UserJWT     string `json:"user_jwt,omitempty"`
	UserSeed    string `json:"user_seed,omitempty"`
	CA          string `json:"ca,omitempty"`
	Cert        string `json:"cert,omitempty"`
	Key         string `json:"key,omitempty"`
	TLSFirst    bool   `json:"tls_first,omitempty"`
	InboxPrefix string `json:"inbox_prefix,omitempty"`

	NSC        string `json:"nsc,omitempty"`
	SocksProxy string `json:"socks_proxy,omitempty"`
}

// Load reads a context by its name. dir is the result of [Dir]. Paths that start with ~ or $HOME
// are resolved.
func Load(dir, name, home string) (nc Context, err error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nc, fmt.Errorf("load NATS context: %q is not a valid context name", name)
	}
	if dir == "" {
		return nc, fmt.Errorf("load NATS context %q: neither XDG_CONFIG_HOME nor HOME is set", name)
	}
	text, err := os.ReadFile(path(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nc, fmt.Errorf("load NATS context %q: there is no file %s: see `nats context ls`, or give --server", name, path(dir, name))
	}
	if err == nil {
		err = json.Unmarshal(text, &nc)
	}
	switch {
	case err != nil:
		return nc, fmt.Errorf("load NATS context %q: read %s: %w", name, path(dir, name), err)
	case nc.NSC != "" || nc.SocksProxy != "" || strings.HasPrefix(nc.Creds, "op://"):
		return nc, fmt.Errorf("load NATS context %q: nsc, socks_proxy and op:// are not supported: give a server and a credentials file", name)
	}
	for _, path := range []*string{&nc.Creds, &nc.NKey, &nc.CA, &nc.Cert, &nc.Key} {
		*path = inHome(home, *path)
	}
	return nc, nil
}

// Selected returns the name of the selected context, or "".
func Selected(dir string) string {
	if dir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dir, "context.txt"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Dir returns the directory of the nats command line; empty if neither XDG_CONFIG_HOME nor HOME is
// set.
func Dir(getenv func(string) string) string {
	if parent := getenv("XDG_CONFIG_HOME"); parent != "" {
		return filepath.Join(parent, "nats")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "nats")
	}
	return ""
}

// inHome resolves the spellings of the home directory at the start of a path.
func inHome(home, path string) string {
	for _, spelling := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(path, spelling+"/"); ok {
			return filepath.Join(home, rest)
		}
	}
	return path
}
