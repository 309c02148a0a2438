package httphook_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

func TestNewNamesTheFieldThatIsWrong(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HTTPKIND_GOOD", "Bearer s3cret")
	t.Setenv("HTTPKIND_LINES", "a\nb")
	if err := os.WriteFile(filepath.Join(dir, "bad"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	const good = "https://policy.example/hook"
	for name, c := range map[string]struct {
		config        httphook.Config
		pointer, want string
	}{
		"no URL":                         {httphook.Config{}, "/url", "is missing"},
		"a URL that can't be read":       {httphook.Config{URL: "https://a:s3cret@b\x7f"}, "/url", "can't be read"},
		"another scheme":                 {httphook.Config{URL: "ftp://a"}, "/url", `must begin with https://, not "ftp"`},
		"no host":                        {httphook.Config{URL: "https:///a"}, "/url", "names no host"},
		"a password":                     {httphook.Config{URL: "https://a:s3cret@b/"}, "/url", "holds a user or password"},
		"a fragment":                     {httphook.Config{URL: good + "#a"}, "/url", "has a fragment"},
		"http to another machine":        {httphook.Config{URL: "http://policy.example:8080/s3cret"}, "/url", "sends events to policy.example:8080 without TLS"},
		"a value for a header":           {httphook.Config{URL: good, Headers: map[string]string{"Authorization": "Bearer s3cret"}}, "/headers/Authorization", "must be the name of a variable"},
		"a value like a name":            {httphook.Config{URL: good, Headers: map[string]string{"X-Key": "s3cret"}}, "/headers/X-Key", "which is not set"},
		"a value with lines":             {httphook.Config{URL: good, Headers: map[string]string{"X-Key": "HTTPKIND_LINES"}}, "/headers/X-Key", "HTTPKIND_LINES can't be sent in a header"},
		"a header of the request itself": {httphook.Config{URL: good, Headers: map[string]string{"webhook-id": "HTTPKIND_GOOD"}}, "/headers/webhook-id", "is not a header that may be set here"},
		"a header that is none":          {httphook.Config{URL: good, Headers: map[string]string{"a b": "HTTPKIND_GOOD"}}, "/headers/a b", "is not a header that may be set here"},
		"two secrets":                    {httphook.Config{URL: good, SecretEnv: "A", SecretFile: "b"}, "/secret_file", "give one of them"},
		"a secret that is not set":       {httphook.Config{URL: good, SecretEnv: "HTTPKIND_NOBODY"}, "/secret_env", "which is not set"},
		"a secret of another form":       {httphook.Config{URL: good, SecretEnv: "HTTPKIND_GOOD"}, "/secret_env", "must be whsec_"},
		"a secret file of another form":  {httphook.Config{URL: good, SecretFile: "bad"}, "/secret_file", "must be whsec_"},
		"a secret file that isn't there": {httphook.Config{URL: good, SecretFile: "none"}, "/secret_file", "no such file"},
		"a secret file that is none":     {httphook.Config{URL: good, SecretFile: "."}, "/secret_file", "is not a file"},
		"TLS without TLS":                {httphook.Config{URL: "http://127.0.0.1", TLS: &httphook.TLS{}}, "/tls", "is of no use for an http URL"},
		"no CA file":                     {httphook.Config{URL: good, TLS: &httphook.TLS{CA: "none"}}, "/tls/ca", "no such file"},
		"a CA file without certificates": {httphook.Config{URL: good, TLS: &httphook.TLS{CA: "bad"}}, "/tls/ca", "has no certificate in PEM"},
		"a certificate without key":      {httphook.Config{URL: good, TLS: &httphook.TLS{Cert: "bad"}}, "/tls", "needs both"},
		"a certificate that is none":     {httphook.Config{URL: good, TLS: &httphook.TLS{Cert: "bad", Key: "bad"}}, "/tls/cert", "does not match the key"},
		"a response below nothing":       {httphook.Config{URL: good, MaxResponse: -1}, "/max_response", "must be 1 to 16777216"},
		"too many at once":               {httphook.Config{URL: good, Concurrency: 5000}, "/concurrency", "must be 1 to 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := httphook.New(kind.Section{Worker: kind.Worker{Dir: dir}}, c.config)
			field, ok := errors.AsType[*kind.FieldError](err)
			if !ok || string(field.Pointer) != c.pointer || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("New = %v; want %s at %s", err, c.want, c.pointer)
			}
		})
	}
}

func TestWhereHTTPIsAllowed(t *testing.T) {
	for _, c := range []httphook.Config{
		{URL: "http://127.0.0.1:8080/hook"},
		{URL: "http://[::1]/hook"},
		{URL: "http://localhost"},
		{URL: "http://policy.example", Insecure: true},
	} {
		hook, err := httphook.New(kind.Section{}, c)
		if err != nil {
			t.Errorf("New(%s): %v", c.URL, err)
			continue
		}
		hook.Close()
	}
}

// TestTLS uses an endpoint with a self-signed certificate that requires a client certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusNoContent
		if len(r.TLS.PeerCertificates) == 0 {
			code = http.StatusForbidden
		}
		w.WriteHeader(code)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = discard()
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"ca.pem":  {Type: "CERTIFICATE", Bytes: server.Certificate().Raw},
		"key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		tls  *httphook.TLS
		want string
	}{
		"a CA and a certificate":      {&httphook.TLS{CA: "ca.pem", Cert: "ca.pem", Key: "key.pem"}, ""},
		"another name that it has":    {&httphook.TLS{CA: "ca.pem", Cert: "ca.pem", Key: "key.pem", ServerName: "example.com"}, ""},
		"no certificate":              {&httphook.TLS{CA: "ca.pem"}, "it answered 403 Forbidden"},
		"a name that it doesn't have": {&httphook.TLS{CA: "ca.pem", ServerName: "policy.test"}, "certificate is valid for"},
		"the system's CAs":            {nil, "certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook, err := httphook.New(kind.Section{Worker: kind.Worker{Dir: dir}}, httphook.Config{URL: server.URL, TLS: c.tls})
			if err != nil {
				t.Fatal(err)
			}
			defer hook.Close()
			_, err = hook.Handler(t.Context(), bash)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}
