package httphook

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// TLS says whom a hook trusts, and who it is. There is no way to trust everybody.
type TLS struct {
	// CA is a file with the certificates to trust, in PEM; empty means the system's.
	CA string `json:"ca"`
	// Cert and Key are files with the certificate that the worker shows, in PEM; both
	// or none.
	Cert string `json:"cert"`
	Key  string `json:"key"`
	// ServerName is the name that the endpoint's certificate must have; empty means
	// the host of the URL.
	ServerName string `json:"server_name"`
}

// check checks what does not require reading the files.
func (t *TLS) check(url string) error {
	switch {
	case t == nil:
		return nil
	case !isHTTPS(url):
		return kind.At("/tls", "is of no use for an http URL: use https")
	case (t.Cert == "") != (t.Key == ""):
		return kind.At("/tls", "needs both cert and key, or none of them")
	}
	return nil
}

// config reads the files, with relative paths relative to dir. It returns nil for a nil TLS.
func (t *TLS) config(dir string) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := readFile(dir, t.CA)
		if err != nil {
			return nil, kind.Lacks("/tls/ca", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, kind.Lacks("/tls/ca", fmt.Errorf("%s has no certificate in PEM", t.CA))
		}
	}
	if t.Cert == "" {
		return c, nil
	}
	cert, err := readFile(dir, t.Cert)
	if err != nil {
		return nil, kind.Lacks("/tls/cert", err)
	}
	key, err := readFile(dir, t.Key)
	if err != nil {
		return nil, kind.Lacks("/tls/key", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, kind.Lacks("/tls/cert", fmt.Errorf("does not match the key: %w", err))
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
