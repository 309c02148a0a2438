package httpapi_test

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for hooks and people
	goleak.VerifyTestMain(m)
}

// bus is a router on a NATS server of its own that asks for credentials, with an agent that
// has a token.
type bus struct {
	testing.TB
	authority *identity.Authority
	server    *server.Server
	url       string // of the HTTP API
	token     string // of the agent coder
	stop      func()
	worker    *worker.Worker
}

// keys are the files of an authority that knows the agent coder, and its token. They are made
// once: that takes longer than to start a server.
var keys = sync.OnceValues(func() (k struct {
	files fs.FS
	token string
}, err error,
) {
	k.files, err = memdir.Made(func(dir string) error {
		a, err := identity.EnsureServed(dir, "hooks")
		if err != nil {
			return err
		}
		coder, err := a.AddToken("coder", time.Time{})
		k.token = coder.Token()
		return err
	})
	return k, err
})

// known is a bus with an authority and nothing else.
func known(t testing.TB) *bus {
	t.Helper()
	k, err := keys()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(natstest.StoreDir(t), "auth")
	if err := os.CopyFS(dir, k.files); err != nil {
		t.Fatal(err)
	}
	a, err := identity.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &bus{TB: t, authority: a, token: k.token}
}

// identities are those of the authority, as a router reads them.
func (b *bus) identities() *identity.File {
	b.Helper()
	f, err := identity.OpenFile(filepath.Join(b.authority.Dir(), identity.DirectoryFile), nil)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func start(t testing.TB, o router.Options) *bus {
	t.Helper()
	b := known(t)
	dir := b.authority.Dir()
	o.Audit.Recorder.Timeout = cmp.Or(o.Audit.Recorder.Timeout, 10*time.Second) // a busy machine refuses nothing
	var err error
	b.server, err = server.Start(t.Context(), server.Options{
		NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: filepath.Dir(dir), AuthDir: dir,
		AgentHTTP: server.AgentHTTP{Listen: "127.0.0.1:0", Hosts: []string{"hooks.example"}}, Router: o,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if err := b.server.Run(ctx, func() { close(up) }); err != nil {
			t.Errorf("run: %v", err)
		}
	}()
	b.stop = func() {
		cancel()
		testkit.Closed(t, "the end of the server", done)
	}
	t.Cleanup(b.stop)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	testkit.Closed(t, "the server to be up", up)
	b.url = "http://" + b.server.AgentAddr()
	b.worker, err = worker.New(b.client("worker"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.worker.Close(context.Background()) })
	return b
}

// add gives an agent a token.
func (b *bus) add(name string, expires time.Time) (token string) {
	b.Helper()
	i, err := b.authority.AddToken(name, expires)
	if err != nil {
		b.Fatal(err)
	}
	return i.Token()
}

// client is a client with the credentials of a default identity.
func (b *bus) client(name string) *hookrouter.Client {
	b.Helper()
	c, err := hookrouter.Connect(b.Context(), hookrouter.Options{URL: b.server.ClientURL(), Creds: b.authority.CredsFile(identity.Identity{Name: name})})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

func (b *bus) hook(r worker.Registration, h worker.Handler) {
	b.Helper()
	if _, err := b.worker.Register(b.Context(), r, h); err != nil {
		b.Fatal(err)
	}
}

// on registers a hook of one event that gives one answer.
func (b *bus) on(event string, answer func() (worker.Result, error)) {
	b.Helper()
	id := strings.ReplaceAll(event, ":", "-")
	b.hook(worker.Registration{ID: id, Events: []string{event}}, func(context.Context, worker.Event) (worker.Result, error) { return answer() })
}

// asks registers a hook that asks a person.
func (b *bus) asks() {
	b.Helper()
	b.on("tool:pre", func() (worker.Result, error) { return worker.Ask("Deploy?") })
}

// approve answers an approval request.
func (b *bus) approve(id, option string) {
	b.Helper()
	m, err := b.client("admin").Conn().Request("hooks.approve."+id, []byte(`{"option":"`+option+`"}`), testkit.Patience)
	if err != nil || m.Header.Get("Nats-Service-Error") != "" {
		b.Fatalf("approve: %v, %v", err, m)
	}
}

// reply is what the API answered.
type reply struct {
	code   int
	header http.Header
	body   string
}

// request makes a request, with the token of coder and JSON unless the headers, in pairs, say
// otherwise.
func (b *bus) request(method, path, body string, headers ...string) *http.Request {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.token)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return r
}

func (b *bus) do(r *http.Request) reply {
	b.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, strings.TrimSpace(string(text))}
}

func (b *bus) post(path, body string, headers ...string) reply {
	b.Helper()
	return b.do(b.request(http.MethodPost, path, body, headers...))
}

func (b *bus) get(path string, headers ...string) reply {
	b.Helper()
	return b.do(b.request(http.MethodGet, path, "", headers...))
}
