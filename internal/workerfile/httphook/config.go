package httphook

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// The defaults and limits of a [Config].
const (
	DefaultMaxResponse = 4 << 20 // bytes of a response: it may quote all data of an event
	DefaultConcurrency = 16      // concurrent requests
	maxMaxResponse     = 16 << 20
	maxConcurrency     = 1024
)

// Config is the section http of a hook.
type Config struct {
	// URL is the endpoint, https, or http on the own machine. It holds no password.
	URL string `json:"url"`
	// Headers are further headers by their names; a value is the name of the
	// variable of the worker's environment that has it.
	Headers map[string]string `json:"headers"`
	// SecretEnv names the variable with the secret that signs the requests: "whsec_"
	// and 24 to 64 bytes in base64. Several, separated by spaces, all sign.
	SecretEnv string `json:"secret_env"`
	// SecretFile is the file with the secret, instead.
	SecretFile string `json:"secret_file"`
	// TLS says whom to trust and who asks; nil means the system's certificates.
	TLS *TLS `json:"tls"`
	// Insecure allows http to other machines: anybody between reads the events and
	// answers in the endpoint's place.
	Insecure bool `json:"insecure"`
	// Idempotent says that the endpoint may get one event twice.
	Idempotent bool `json:"idempotent"`
	// MaxResponse bounds the answer, in bytes; 0 means [DefaultMaxResponse].
	MaxResponse int `json:"max_response"`
	// Concurrency is how many requests are under way at once; 0 means
	// [DefaultConcurrency].
	Concurrency int `json:"concurrency"`
}

// New builds the hook. It returns a [*kind.FieldError] on failure.
func New(s kind.Section, c Config) (kind.Hook, error) {
	host, err := c.check()
	if err != nil {
		return kind.Hook{}, err
	}
	header, err := headers(c.Headers)
	if err != nil {
		return kind.Hook{}, err
	}
	keys, err := secret(s.Worker.Dir, c)
	if err != nil {
		return kind.Hook{}, err
	}
	trust, err := c.TLS.config(s.Worker.Dir)
	if err != nil {
		return kind.Hook{}, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        trust,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    c.Concurrency,
		MaxResponseHeaderBytes: 64 << 10,
	}
	e := &endpoint{
		url: c.URL, host: host, header: header, keys: keys,
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		idempotent:  c.Idempotent,
		observes:    s.Registration != nil && s.Registration.Observes(),
		maxResponse: c.MaxResponse,
		slots:       make(chan struct{}, c.Concurrency),
	}
	return kind.Hook{Handler: e.handle, Acts: true, Files: c.files(s.Worker), Close: transport.CloseIdleConnections}, nil
}

// check checks what does not depend on this machine. It returns the part of the URL that may be
// shown.
func (c *Config) check() (host string, err error) {
	host, err = checkURL(*c)
	if err != nil {
		return "", &kind.FieldError{Pointer: "/url", Err: err}
	}
	if err := cmp.Or(
		kind.Range("/max_response", &c.MaxResponse, DefaultMaxResponse, 1, maxMaxResponse),
		kind.Range("/concurrency", &c.Concurrency, DefaultConcurrency, 1, maxConcurrency),
	); err != nil {
		return "", err
	}
	if err := c.checkSecrets(); err != nil {
		return "", err
	}
	return host, c.TLS.check(c.URL)
}

// files returns the paths of the secret and the certificates.
func (c Config) files(w kind.Worker) (paths []string) {
	names := []string{c.SecretFile}
	if c.TLS != nil {
		names = append(names, c.TLS.CA, c.TLS.Cert, c.TLS.Key)
	}
	for _, name := range names {
		if name != "" {
			paths = append(paths, w.Path(name))
		}
	}
	return paths
}

// checkURL returns the part of the URL that may be shown. Its errors do not reveal any other part.
func checkURL(c Config) (host string, err error) {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		return "", errors.New("is missing: give the endpoint, like https://policy.example/hook")
	case err != nil:
		return "", errors.New("can't be read: write it like https://host/path, with other characters escaped")
	case u.Scheme == "":
		return "", errors.New("must begin with https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("must begin with https://, not %q", u.Scheme)
	case u.Hostname() == "":
		return "", errors.New("names no host: write it like https://host/path")
	case u.User != nil:
		return "", kind.Secret("holds a user or password: send them in a header, whose value is a variable: headers: {Authorization: POLICY_AUTHORIZATION}")
	case u.Fragment != "":
		return "", errors.New("has a fragment (#), which is never sent: remove it")
	case u.Scheme == "http" && !c.Insecure && !kind.Loopback(u.Hostname()):
		return "", fmt.Errorf("sends events to %s without TLS: use https, or say insecure: true", u.Host)
	}
	return u.Host, nil
}

func isHTTPS(text string) bool { return strings.HasPrefix(strings.ToLower(text), "https:") }
