package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natscontext"
)

// Connection is the set of flags for the connection to NATS.
type Connection struct {
	Server      string `short:"s" from:"HOOK_ROUTER_NATS_URL,NATS_URL" placeholder:"URL" help:"NATS servers, comma-separated; default nats://127.0.0.1:4222."`
	Context     string `from:"NATS_CONTEXT" placeholder:"NAME" help:"Context of the nats command line; the selected one where neither this nor a server is given."`
	Creds       string `from:"NATS_CREDS" placeholder:"FILE" help:"Credentials file."`
	User        string `from:"NATS_USER" placeholder:"NAME" help:"User name."`
	Password    string `from:"NATS_PASSWORD" placeholder:"TEXT" help:"Password; the variable hides it from other users of the machine."`
	Token       string `from:"NATS_TOKEN" placeholder:"TEXT" help:"Token."`
	NKey        string `name:"nkey" from:"NATS_NKEY" placeholder:"FILE" help:"File with an nkey seed."`
	TLSCA       string `name:"tlsca" from:"NATS_CA" placeholder:"FILE" help:"Certificates to trust."`
	TLSCert     string `name:"tlscert" from:"NATS_CERT" placeholder:"FILE" help:"Client certificate."`
	TLSKey      string `name:"tlskey" from:"NATS_KEY" placeholder:"FILE" help:"Key of the client certificate."`
	InboxPrefix string `from:"NATS_INBOX_PREFIX" placeholder:"SUBJECT" help:"Prefix of reply subjects; begins with _INBOX."`
	Prefix      string `from:"HOOK_ROUTER_PREFIX" placeholder:"TOKEN" help:"First token of the router's subjects; default hooks."`

	userJWT, userSeed string // from a context only
	TLSFirst          bool   `kong:"-"`
}

// fromContext fills in what no flag and no variable sets from the named context, or from the
// selected one if no server is named either. So the credentials of a context never go to another
// server.
func (c *Connection) fromContext(getenv func(string) string) error {
	dir := natscontext.Dir(getenv)
	name := c.Context
	if name == "" {
		if c.Server != "" {
			return nil
		}
		if name = natscontext.Selected(dir); name == "" {
			return nil
		}
	}
	nc, err := natscontext.Load(dir, name, getenv("HOME"))
	if err != nil {
		return err
	}
	if c.Creds == "" && c.User == "" && c.Token == "" && c.NKey == "" { // use one identity, not a mixture
		c.User, c.Password, c.Token, c.userJWT, c.userSeed = nc.User, nc.Password, nc.Token, nc.UserJWT, nc.UserSeed
		c.Creds, c.NKey = nc.Creds, nc.NKey
	}
	if c.TLSCert == "" && c.TLSKey == "" {
		c.TLSCert, c.TLSKey = nc.Cert, nc.Key
	}
	for _, field := range [...]struct {
		to   *string
		from string
	}{{&c.Server, nc.URL}, {&c.TLSCA, nc.CA}, {&c.InboxPrefix, nc.InboxPrefix}} {
		if *field.to == "" {
			*field.to = field.from
		}
	}
	c.TLSFirst = nc.TLSFirst
	return nil
}

// advice returns what to do if the identity lacks the permissions of a role.
func (c *Connection) advice(role string) string {
	if c.Creds == "" {
		return "ask whoever runs it for that permission"
	}
	others := "others"
	if role == keeper {
		others = "a keeper's"
	}
	return fmt.Sprintf("the credentials in %s do not allow it: name %s with --creds or NATS_CREDS", c.Creds, others)
}

// options returns the NATS options for the flags and the context.
func (c Connection) options() (list []nats.Option, err error) {
	for _, file := range [...]struct{ flag, path string }{
		{"--creds", c.Creds}, {"--nkey", c.NKey}, {"--tlsca", c.TLSCA}, {"--tlscert", c.TLSCert}, {"--tlskey", c.TLSKey},
	} {
		if file.path == "" {
			continue
		}
		if _, err := os.Stat(file.path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read %s: there is no file %s", file.flag, file.path)
		}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return nil, errors.New("use a client certificate: --tlscert and --tlskey belong together")
	}
	if c.User != "" {
		list = append(list, nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		list = append(list, nats.Token(c.Token))
	}
	if c.userJWT != "" {
		list = append(list, nats.UserJWTAndSeed(c.userJWT, c.userSeed))
	}
	if c.NKey != "" {
		nkey, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("read --nkey %s: %w", c.NKey, err)
		}
		list = append(list, nkey)
	}
	if c.TLSCA != "" {
		list = append(list, nats.RootCAs(c.TLSCA))
	}
	if c.TLSCert != "" {
		list = append(list, nats.ClientCert(c.TLSCert, c.TLSKey))
	}
	if c.TLSFirst {
		list = append(list, nats.TLSHandshakeFirst())
	}
	if inbox := cmp.Or(c.InboxPrefix, nats.InboxPrefix[:len(nats.InboxPrefix)-1]); inbox != "_INBOX" {
		if !strings.HasPrefix(inbox, "_INBOX") {
			return nil, fmt.Errorf("use inbox prefix %q: a router only answers to subjects that begin with _INBOX", inbox)
		}
		list = append(list, nats.CustomInboxPrefix(inbox))
	}
	return list, nil
}
