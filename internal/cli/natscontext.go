package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// natsContext is a context file of the nats command line, as far as it says how
// to connect. Fields that are not here do not matter to hookctl.
type natsContext struct {
	URL         string `json:"url"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Token       string `json:"token"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	UserJWT     string `json:"user_jwt"`
	UserSeed    string `json:"user_seed"`
	CA          string `json:"ca"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	TLSFirst    bool   `json:"tls_first"`
	InboxPrefix string `json:"inbox_prefix"`

	NSC        string `json:"nsc"`
	SocksProxy string `json:"socks_proxy"`
}

// fromContext fills in what no flag and no variable said. The context is the one
// that was named, or the selected one where no server was named either: what a
// context proves its identity with never goes to a server that it was not asked
// for.
func (c *Connection) fromContext(getenv func(string) string) error {
	dir := configDir(getenv)
	name := c.Context
	if name == "" {
		if c.Server != "" {
			return nil
		}
		if name = selected(dir); name == "" {
			return nil
		}
	}
	nc, err := loadContext(dir, name)
	if err != nil {
		return err
	}
	home := getenv("HOME")
	if c.Creds == "" && c.User == "" && c.Token == "" && c.NKey == "" { // one identity, not a mixture
		c.User, c.Password, c.Token, c.userJWT, c.userSeed = nc.User, nc.Password, nc.Token, nc.UserJWT, nc.UserSeed
		c.Creds, c.NKey = inHome(home, nc.Creds), inHome(home, nc.NKey)
	}
	if c.TLSCert == "" && c.TLSKey == "" {
		c.TLSCert, c.TLSKey = inHome(home, nc.Cert), inHome(home, nc.Key)
	}
	for _, field := range [...]struct {
		to   *string
		from string
	}{{&c.Server, nc.URL}, {&c.TLSCA, inHome(home, nc.CA)}, {&c.InboxPrefix, nc.InboxPrefix}} {
		if *field.to == "" {
			*field.to = field.from
		}
	}
	c.TLSFirst = nc.TLSFirst
	return nil
}

func loadContext(dir, name string) (nc natsContext, err error) {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nc, fmt.Errorf("load NATS context: %q is no name of a context", name)
	}
	if dir == "" {
		return nc, fmt.Errorf("load NATS context %q: neither XDG_CONFIG_HOME nor HOME is set", name)
	}
	path := filepath.Join(dir, "context", name+".json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nc, fmt.Errorf("load NATS context %q: there is no file %s: see `nats context ls`, or give --server", name, path)
	}
	if err == nil {
		err = json.Unmarshal(text, &nc)
	}
	switch {
	case err != nil:
		return nc, fmt.Errorf("load NATS context %q: read %s: %w", name, path, err)
	case nc.NSC != "" || nc.SocksProxy != "" || strings.HasPrefix(nc.Creds, "op://"):
		return nc, fmt.Errorf("load NATS context %q: hookctl knows no nsc, socks_proxy and op://: give --server and --creds", name)
	}
	return nc, nil
}

// selected is the name of the selected context, or "".
func selected(dir string) string {
	if dir == "" {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(dir, "context.txt"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// configDir is where the nats command line keeps its files; empty where nobody
// knows.
func configDir(getenv func(string) string) string {
	if parent := getenv("XDG_CONFIG_HOME"); parent != "" {
		return filepath.Join(parent, "nats")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "nats")
	}
	return ""
}

// inHome resolves the spellings of the home directory that contexts may have.
func inHome(home, path string) string {
	for _, spelling := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(path, spelling+"/"); ok {
			return filepath.Join(home, rest)
		}
	}
	return path
}
