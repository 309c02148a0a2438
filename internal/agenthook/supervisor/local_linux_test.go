package supervisor_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// own is a router of this user that listens for hook-agents, and for nobody on NATS.
type own struct {
	url, home string
	key       nkeys.KeyPair
	listener  net.Listener
}

// exchange is a question to it, and what it says.
type exchange struct {
	supervisor.Exchange
	key nkeys.KeyPair
	to  net.Conn
}

// startOwn starts a router that answers each question with respond, and credentials that name it.
func startOwn(t *testing.T, respond func(x *exchange)) *own {
	t.Helper()
	key, err := nkeys.CreateServer()
	if err != nil {
		t.Fatal(err)
	}
	o := &own{url: "nats://" + freeAddr(t), home: t.TempDir(), key: key}
	public, _ := key.PublicKey()
	o.credentials(t, natscreds.ServerTag+public)
	o.listener, err = (&net.ListenConfig{}).Listen(t.Context(), "unix", supervisor.LocalName(o.url))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = o.listener.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := o.listener.Accept()
			if err != nil {
				return
			}
			serve(c, key, respond)
		}
	}()
	return o
}

func serve(c net.Conn, key nkeys.KeyPair, respond func(x *exchange)) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	document, _ := io.ReadAll(r.Body)
	respond(&exchange{supervisor.Exchange{
		Target: r.RequestURI, Challenge: r.Header.Get(supervisor.HeaderChallenge), Timeout: r.Header.Get(supervisor.HeaderTimeout),
		Sessions: r.Header.Get(supervisor.HeaderSessions), Document: document,
	}, key, c})
}

// freeAddr is an address of the loopback at which nobody listens while the test runs.
func freeAddr(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

// credentials writes the context and the credentials that hook-agent finds, with a tag.
func (o *own) credentials(t *testing.T, tag string) {
	t.Helper()
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	public, _ := user.PublicKey()
	seed, _ := user.Seed()
	claims := jwt.NewUserClaims(public)
	claims.Tags.Add(tag)
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	creds := filepath.Join(o.home, "agent.creds")
	if err := os.WriteFile(creds, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := natscontext.Write(filepath.Join(o.home, ".config", "nats"), natscontext.Name(o.url, "agent"), natscontext.Context{URL: o.url, Creds: creds}); err != nil {
		t.Fatal(err)
	}
}

// agent is hook-agent below the home of the credentials.
func (o *own) agent(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := hookAgent(t, o.url, append([]string{"--server=" + o.url, "--patience=1ms"}, args...)...)
	c.Env = append(c.Env, "HOME="+o.home) // the last one counts
	return c
}

// send sends an answer that the key signed as being to x.
func (x *exchange) send(status int, header http.Header, body string) {
	signature, _ := x.key.Sign(x.Text(fmt.Sprint(status), header.Get, []byte(body)))
	header.Set(supervisor.HeaderSignature, base64.StdEncoding.EncodeToString(signature))
	header.Set("Content-Length", fmt.Sprint(len(body)))
	fmt.Fprintf(x.to, "HTTP/1.1 %d X\r\n", status)
	_ = header.Write(x.to)
	_, _ = io.WriteString(x.to, "\r\n"+body)
}

// accept takes the question.
func (x *exchange) accept(timeoutMS string) {
	x.send(http.StatusProcessing, http.Header{supervisor.HeaderEventID: {"e1"}, supervisor.HeaderTimeout: {timeoutMS}}, "")
}

func (x *exchange) answer(code string, notes, out string) {
	x.send(http.StatusOK, http.Header{supervisor.HeaderCode: {code}, supervisor.HeaderNotes: {fmt.Sprint(len(notes))}}, notes+out)
}

// A router of the same user answers without a NATS connection: its words, its code, its notes.
func TestARouterOfThisUserAnswers(t *testing.T) {
	t.Parallel()
	asked := make(chan supervisor.Exchange, 1)
	o := startOwn(t, func(x *exchange) {
		asked <- x.Exchange
		x.accept("5000")
		x.answer("3", "a note\n", `{"a":1}`)
	})
	c := o.agent(t, "--timeout=9s", "--scope=managed", "copilot", "preToolUse")
	c.Env = append(c.Env, "CLAUDE_CODE_SESSION_ID=above")
	if got := run(t, c); got != (outcome{`{"a":1}`, "a note\n", 3}) {
		t.Errorf("%+v", got)
	}
	got := testkit.Receive(t, "the question", asked)
	if got.Target != "/v1/agents/copilot?event=preToolUse&scope=managed" || got.Timeout != "9000" || got.Sessions != "CLAUDE_CODE_SESSION_ID=above," || string(got.Document) != document {
		t.Errorf("%+v", got)
	}
}

// What the router of the credentials did not sign as the answer to this very question is none: the
// agent is blocked, since the second process finds no router.
func TestAnswersWithoutTheRoutersSignatureAreIgnored(t *testing.T) {
	t.Parallel()
	other, err := nkeys.CreateServer()
	if err != nil {
		t.Fatal(err)
	}
	const pass = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nHook-Exit-Code: 0\r\nHook-Notes-Length: 0\r\n\r\n"
	for name, respond := range map[string]func(x *exchange){
		"another key":        func(x *exchange) { x.key = other; x.answer("0", "", "") },
		"another accepts":    func(x *exchange) { k := x.key; x.key = other; x.accept("5000"); x.key = k; x.answer("0", "", "") },
		"no signature":       func(x *exchange) { _, _ = io.WriteString(x.to, pass) },
		"another document":   func(x *exchange) { x.Document = []byte(`{}`); x.answer("0", "", "") },
		"another event":      func(x *exchange) { x.Target += "x"; x.answer("0", "", "") },
		"another challenge":  func(x *exchange) { x.Challenge += "x"; x.answer("0", "", "") },
		"another session":    func(x *exchange) { x.Sessions = "A=b,"; x.answer("0", "", "") },
		"accepted only":      func(x *exchange) { x.accept("5000") },
		"accepted twice":     func(x *exchange) { x.accept("5000"); x.accept("5000"); x.answer("0", "", "") },
		"nothing":            func(*exchange) {},
		"no HTTP":            func(x *exchange) { _, _ = io.WriteString(x.to, "yes\r\n\r\n") },
		"a head without end": func(x *exchange) { _, _ = io.WriteString(x.to, "HTTP/1.1 200 OK\r\n"+strings.Repeat("x", 1<<20)) },
		"unavailable":        func(x *exchange) { _, _ = io.WriteString(x.to, "HTTP/1.1 503 X\r\n\r\n") },
		"half of an answer":  func(x *exchange) { _, _ = io.WriteString(x.to, strings.Replace(pass, "Length: 0", "Length: 9", 1)) },
		"notes beyond it all": func(x *exchange) {
			x.send(200, http.Header{supervisor.HeaderCode: {"0"}, supervisor.HeaderNotes: {"9"}}, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOwn(t, respond)
			for range testkit.Volume(t, 1, 10, 100) {
				if got := run(t, o.agent(t, "claude-code")); !denied(got) || !strings.Contains(got.stdout, "can't be reached") {
					t.Fatalf("%+v; want a block", got)
				}
			}
		})
	}
}

// A router that takes the question and hangs is not asked again: the agent is blocked in time.
func TestARouterOfThisUserHangs(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	o := startOwn(t, func(x *exchange) { x.accept("1"); <-hanging })
	t.Cleanup(func() { close(hanging) }) // before that of startOwn
	if got := run(t, o.agent(t, "claude-code")); !denied(got) || !strings.Contains(got.stdout, "did not answer in time") {
		t.Errorf("%+v; want a block", got)
	}
}

// The second process asks where the first one can't tell whom, or what.
func TestTheSecondProcessAsks(t *testing.T) {
	t.Parallel()
	pass := func(x *exchange) { x.answer("0", "", "") }
	for name, change := range map[string]func(o *own, c *exec.Cmd){
		"credentials of their own": func(_ *own, c *exec.Cmd) { c.Args = []string{c.Args[0], "--creds=x", "claude-code"} },
		"a prefix":                 func(_ *own, c *exec.Cmd) { c.Args = []string{c.Args[0], "--prefix=x", "--patience=1ms", "claude-code"} },
		"another host": func(o *own, c *exec.Cmd) {
			c.Args = []string{c.Args[0], "--server=tls" + strings.TrimPrefix(o.url, "nats"), "--patience=1ms", "claude-code"}
		},
		"a session that is none":   func(_ *own, c *exec.Cmd) { c.Env = append(c.Env, "CODEX_THREAD_ID=a\r\nb") },
		"something to report":      func(o *own, _ *exec.Cmd) { o.spool(t) },
		"credentials of no router": func(o *own, _ *exec.Cmd) { o.credentials(t, "other") },
		"no credentials":           func(o *own, _ *exec.Cmd) { _ = os.RemoveAll(filepath.Join(o.home, ".config")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOwn(t, pass)
			c := o.agent(t, "claude-code")
			change(o, c)
			if got := run(t, c); !denied(got) {
				t.Errorf("%+v; want a block", got)
			}
		})
	}
}

func (o *own) spool(t *testing.T) {
	t.Helper()
	dir := filepath.Join(o.home, ".local", "state", "hookrouter", "hook-agent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, supervisor.Spool), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

const envName = "SUPERVISOR_TEST_LISTEN"

// Another user that takes the name of the socket is told nothing.
func TestAnotherUserListens(t *testing.T) {
	t.Parallel()
	if name := os.Getenv(envName); name != "" {
		listenAndTell(name)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	o := startOwn(t, func(*exchange) {})
	_ = o.listener.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^TestAnotherUserListens$")
	c.ExtraFiles = []*os.File{file}
	c.Dir = "/"
	c.Env = []string{envName + "=" + supervisor.LocalName(o.url)}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	said, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skipf("another user can't be started here: %v", err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); err != nil || line != "listening\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if got := run(t, o.agent(t, "claude-code")); !denied(got) {
		t.Errorf("%+v; want a block", got)
	}
	if line, err := lines.ReadString('\n'); err != nil || line != "0 bytes\n" {
		t.Errorf("the other user got %q, %v", line, err)
	}
}

// listenAndTell says how many bytes the first client sends.
func listenAndTell(name string) {
	l, err := net.Listen("unix", name) //nolint:noctx // until it is killed
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	if c, err := l.Accept(); err == nil {
		n, _ := c.Read(make([]byte, 1))
		fmt.Println(n, "bytes")
	}
}
