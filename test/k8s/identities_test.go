package k8s

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// identity is what the guide has made of identities.
type identity struct {
	manifests   []byte
	token       string // of the agent coder, for the HTTP API
	certificate []byte
}

// identities runs the commands of the guide, once.
var identities = sync.OnceValues(func() (made identity, err error) {
	dir, err := os.MkdirTemp(binaries, "auth")
	if err != nil {
		return made, err
	}
	hookctl := func(args string) string {
		if err != nil {
			return ""
		}
		var out string
		out, err = program([]string{"HOME=" + dir, "NATS_URL=nats://127.0.0.1:1"}, "hookctl", append([]string{"--json", "auth"}, strings.Fields(args)...)...)
		if err != nil && (strings.Contains(out, "hookctl auth push") && strings.Contains(out, "does not know of it yet")) {
			err = nil // there is no server yet
		}
		if err != nil {
			err = fmt.Errorf("hookctl auth %s: %w\n%s", args, err, out)
		}
		return out
	}
	auth := " --dir=" + filepath.Join(dir, "auth")
	hookctl("init" + auth)
	hookctl("add router router" + auth)
	hookctl("add agent coder" + auth)
	hookctl("add worker policy --hook=redaction,path-guard,command-guard,metadata-and-console,unknown-tools,mcp-tools,notebook-shell,written-commands,foreign-instructions" + auth)
	if m := regexp.MustCompile(`"token": ?"([^"]+)"`).FindStringSubmatch(hookctl("add --http=coder" + auth)); m != nil {
		made.token = m[1]
	}
	manifests := hookctl("config --for=kubernetes --namespace=hook-router" + auth)
	if err != nil {
		return made, err
	}
	certificate, key, err := selfSigned("hook-router.hook-router")
	if err != nil {
		return made, err
	}
	made.certificate = certificate
	made.manifests = fmt.Appendf([]byte(manifests), "---\napiVersion: v1\nkind: Secret\nmetadata: {name: hook-router-agents-tls, namespace: hook-router}\ndata: {tls.crt: %s, tls.key: %s}\n",
		base64.StdEncoding.EncodeToString(certificate), base64.StdEncoding.EncodeToString(key))
	return made, nil
})

// selfSigned makes a certificate for a name, and its key.
func selfSigned(name string) (certificate, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), err
}

// creds writes the credentials of an identity.
func (c *cluster) creds(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".creds")
	if err := os.WriteFile(file, c.set.secret("hookrouter-creds-" + name)["user.creds"], 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTheProgramsServeIdentities runs the overlay with identities: over NATS and HTTP an
// agent is gated, and nobody without credentials gets in.
func TestTheProgramsServeIdentities(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	c := start(t, load(t, identified))
	router := c.route(t, ctx)
	router.says(t, ctx, `health +(http://[^/]+)/readyz`)
	worker := c.run(t, "hook-worker", "hook-worker")
	worker.says(t, ctx, `"hooks":9`)
	c.guarded(t)
	at := ""
	for _, line := range router.seen {
		if _, rest, found := strings.Cut(line, "agents  https://"); found {
			at, _, _ = strings.Cut(rest, "/")
		}
	}
	made, err := identities()
	if err != nil {
		t.Fatal(err)
	}
	passwd := `{"tool_name":"Write","tool_input":{"file_path":"/etc/passwd"}}`
	for _, request := range []struct {
		token, data string
		status      int
		says        string
	}{
		{made.token, passwd, http.StatusOK, `"action":"deny"`},
		{made.token, `{"tool_name":"Bash","tool_input":{"command":"rm -rf build"}}`, http.StatusOK, `"action":"continue"`},
		{strings.ToUpper(made.token), passwd, http.StatusUnauthorized, ""},
		{"", passwd, http.StatusUnauthorized, ""},
	} {
		status, body := made.post(t, ctx, at, request.token, request.data)
		if status != request.status || !strings.Contains(body, request.says) {
			t.Errorf("%s: %d %s; want %d with %q", request.data, status, body, request.status, request.says)
		}
	}
	env := []string{"NATS_URL=" + c.here("nats://nats:4222"), "HOME=" + t.TempDir()}
	if out, err := program(env, "hookctl", "emit", "tool:pre", "{}"); err == nil {
		t.Errorf("somebody without credentials gets in: %s", out)
	}
	lacksNothing(t, router, worker)
}

// post sends an event as an agent that speaks HTTP does.
func (made identity) post(t *testing.T, ctx context.Context, at, token, data string) (status int, body string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(made.certificate)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "hook-router.hook-router", MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+at+"/v1/execute/tool:pre", bytes.NewBufferString(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "hook-router.hook-router:8081"
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
