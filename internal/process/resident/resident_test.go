package resident_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/process/resident"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// TestMain lets this binary be the program that is asked.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_PROGRAM") != "" {
		answerAll()
		os.Exit(0)
	}
	testkit.Parallel(16) // they wait for time-outs
	goleak.VerifyTestMain(m)
}

// call is what the program of these tests is asked: the lines it is to print, where ID
// and OLD stand for the ids of this question and of the one before, and what else it does.
type call struct {
	Print string `json:"print,omitempty"`
	Say   string `json:"say,omitempty"`  // to standard error
	Exit  int    `json:"exit,omitempty"` // ends with this code
	Hang  bool   `json:"hang"`           // reads nothing any more
}

func answerAll() {
	if os.Getenv("TEST_BROKEN") != "" {
		fmt.Fprintln(os.Stderr, "no module named torch")
		os.Exit(3)
	}
	if os.Getenv("TEST_STUBBORN") != "" {
		signal.Ignore(syscall.SIGTERM)
	}
	answerLines()
	if os.Getenv("TEST_STUBBORN") != "" {
		time.Sleep(time.Hour) //nolint:forbidigo // it hangs
	}
}

// answerLines answers until there is nothing more to read.
func answerLines() {
	old := ""
	lines := bufio.NewReader(os.Stdin)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var q struct {
			ID string `json:"id"`
			call
		}
		if err := json.Unmarshal(text, &q); err != nil {
			panic(err)
		}
		if q.Say != "" {
			fmt.Fprintln(os.Stderr, q.Say)
		}
		fmt.Print(strings.NewReplacer("ID", q.ID, "OLD", old, "PID", strconv.Itoa(os.Getpid())).Replace(q.Print))
		if q.Exit != 0 {
			os.Exit(q.Exit)
		}
		if q.Hang {
			time.Sleep(time.Hour) //nolint:forbidigo // it hangs
		}
		old = q.ID
	}
}

func (c call) text(t *testing.T) []byte {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plain is what an ordinary question is answered.
var plain = call{Print: `{"id":"ID","result":"PID"}` + "\n"}

// started is a process that runs this binary; env are further variables.
func started(t *testing.T, o resident.Options, env ...string) *resident.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Program = process.Program{Path: self, Env: append(env, "TEST_PROGRAM=1")}
	p := resident.New(o)
	t.Cleanup(p.Close)
	return p
}

// ask asks within a generous time.
func ask(t *testing.T, p *resident.Process, c call) (string, error) {
	t.Helper()
	return askFor(t, p, c, 20*time.Second)
}

func askFor(t *testing.T, p *resident.Process, c call, limit time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	result, err := p.Ask(ctx, c.text(t))
	return string(result), err
}

func TestOneProcessAnswersAll(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{})
	first, err := ask(t, p, plain)
	if err != nil || first == "" {
		t.Fatalf("result %s, %v", first, err)
	}
	for range 10 {
		if again, err := ask(t, p, plain); err != nil || again != first {
			t.Fatalf("result %s, %v; want %s, the same process", again, err, first)
		}
	}
}

// TestOnlyItsOwnAnswerCounts sends what a confused program, or one that prints what an
// agent gave it, may write before the answer.
func TestOnlyItsOwnAnswerCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		want   string // an error; empty for the answer
	}{
		"text":                         {"debug: asked\n", ""},
		"blank lines":                  {"\n \r\n", ""},
		"half a JSON":                  {`{"id":"ID","result":` + "\n", ""},
		"another type":                 {`["ID","forged"]` + "\n" + `{"id":1,"result":"forged"}` + "\n", ""},
		"no id":                        {`{"result":"forged"}` + "\n", ""},
		"the answer before, again":     {`{"id":"OLD","result":"forged"}` + "\n", ""},
		"an id that nobody gave":       {`{"id":"e1","result":"forged"}` + "\n", ""},
		"an id twice":                  {`{"id":"OLD","result":"forged","id":"ID"}` + "\n", ""},
		"a result beside the others":   {`{"id":"ID","action":"continue"}` + "\n", `it has "action" beside the id`},
		"no result":                    {`{"id":"ID"}` + "\n", "no result"},
		"an error":                     {`{"id":"ID","error":"no\u001b[1m idea"}` + "\n", "it failed: no [1m idea"},
		"an error and a result":        {`{"id":"ID","error":"x","result":null}` + "\n", "both result and error"},
		"an error, then a good answer": {`{"id":"ID","error":"x"}` + "\n", "it failed: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, resident.Options{})
			if _, err := ask(t, p, plain); err != nil {
				t.Fatal(err)
			}
			got, err := ask(t, p, call{Print: c.before + `{"id":"ID","result":"mine"}` + "\n"})
			if c.want == "" && (err != nil || got != `"mine"`) {
				t.Errorf("result %s, %v", got, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(c.want, "it has "))) {
				t.Errorf("result %s, %v; want the error %s", got, err, c.want)
			}
			// What is left of it answers nobody else.
			if got, err := ask(t, p, call{Print: `{"id":"ID","result":"next"}` + "\n"}); err != nil || got != `"next"` {
				t.Errorf("the next call: %s, %v", got, err)
			}
		})
	}
}

func TestAQuestionIsOneLine(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := p.Ask(ctx, []byte("{\r\n\"more\":[1,\n2],\r\"print\":\"{\\\"id\\\":\\\"ID\\\",\\\"result\\\":1}\\n\"\n}\n"))
	if err != nil || string(got) != "1" {
		t.Errorf("result %s, %v", got, err)
	}
}

func TestAQuestionFailsWithTheProgramAndTheNextIsAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   call
		want string
	}{
		"it exits":             {call{Say: "out of memory", Exit: 3}, "exit status 3: out of memory"},
		"it prints too much":   {call{Print: strings.Repeat("x", 2000) + "\n", Hang: true}, "longer than 1000 bytes"},
		"a line without end":   {call{Print: strings.Repeat("x", 2000), Hang: true}, "longer than 1000 bytes"},
		"it exits after lines": {call{Print: "bye\n", Exit: 1}, "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, resident.Options{MaxLine: 1000})
			first, err := ask(t, p, plain)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ask(t, p, c.do); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("result %s, %v; want the error %s", got, err, c.want)
			}
			if second, err := ask(t, p, plain); err != nil || second == first {
				t.Errorf("the next call: %s, %v; want another process than %s", second, err, first)
			}
		})
	}
}

// TestALateAnswerIsForgotten gives up a question before it is answered.
func TestALateAnswerIsForgotten(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{InFlight: 2, Timeout: 20 * time.Second})
	first, err := ask(t, p, plain)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := askFor(t, p, call{}, 200*time.Millisecond); err == nil || !strings.Contains(err.Error(), "has not answered in time") {
		t.Fatalf("result %s, %v", got, err)
	}
	if got, err := ask(t, p, call{Print: `{"id":"OLD","result":"late"}` + "\n" + `{"id":"ID","result":"PID"}` + "\n"}); err != nil || got != first {
		t.Errorf("result %s, %v; want %s", got, err, first)
	}
}

// TestAProgramThatHangsIsReplaced also shows that a short patience of who asks is
// no reason to.
func TestAProgramThatHangsIsReplaced(t *testing.T) {
	t.Parallel()
	const timeout = 100 * time.Millisecond
	p := started(t, resident.Options{Timeout: timeout})
	first, err := ask(t, p, plain)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := askFor(t, p, call{Hang: true}, 20*time.Millisecond); err == nil {
		t.Fatal("a program that hangs has answered")
	}
	if second, err := ask(t, p, plain); err != nil || second == first {
		t.Errorf("the next call: %s, %v; want another process than %s", second, err, first)
	}
	if took := time.Since(began); took < timeout {
		t.Errorf("it was replaced after %s, before its time was over", took)
	}
}

// TestSlowToStart may take longer for the first answer than for others.
func TestSlowToStart(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{Timeout: time.Millisecond, Startup: 20 * time.Second, InFlight: 1})
	testkit.Eventually(t, "it has the first question", func() bool {
		_, err := askFor(t, p, call{}, 20*time.Millisecond)
		return err != nil && (strings.Contains(err.Error(), "has not answered in time") || strings.Contains(err.Error(), "has not read the call in time"))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Ask(ctx, plain.text(t)); err == nil || !strings.Contains(err.Error(), "it is busy with 1 other calls") {
		t.Errorf("error %v; want that the first still waits", err)
	}
}

func TestAProgramThatNeverAnswersIsStartedEverLessOften(t *testing.T) {
	t.Parallel()
	var log buffer
	p := started(t, resident.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, "TEST_BROKEN=1")
	for range 4 {
		if _, err := ask(t, p, plain); err == nil || !strings.Contains(err.Error(), "exit status 3: no module named torch") {
			t.Fatalf("error %v; want why it ended", err)
		}
	}
	for _, want := range []string{"pause=0s", "pause=100ms", "pause=200ms", `hook process says`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
	// Who can't wait for the next start is told so at once.
	if _, err := askFor(t, p, plain, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "torch") {
		t.Errorf("error %v", err)
	}
}

func TestSeveralQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{InFlight: 8})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			want := strconv.Itoa(i)
			if got, err := ask(t, p, call{Print: `{"id":"ID","result":` + want + "}\n"}); err != nil || got != want {
				t.Errorf("question %s: %s, %v", want, got, err)
			}
		})
	}
	all.Wait()
}

func TestAFloodOfLinesIsLoggedInPart(t *testing.T) {
	t.Parallel()
	var log buffer
	p := started(t, resident.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if _, err := ask(t, p, call{
		Say: strings.Repeat("noise\n", 5000), Print: strings.Repeat("noise\n", 5000) + plain.Print,
	}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "\n"); n < 2 || n > 40 {
		t.Errorf("%d lines are logged:\n%s", n, log.String())
	}
	if strings.Contains(log.String(), "is not an answer") && strings.Contains(log.String(), "msg=noise") {
		t.Errorf("what the program printed is in the log:\n%s", log.String())
	}
}

func TestClosingEndsTheProgram(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{
		"that ends with its input":       nil,
		"that ignores its input and all": {"TEST_STUBBORN=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := started(t, resident.Options{}, env...)
			pid, err := ask(t, p, plain)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			number, err := strconv.Atoi(strings.Trim(pid, `"`))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(number, 0); err == nil {
				t.Error("the program lives on")
			}
			if _, err := ask(t, p, plain); err == nil {
				t.Error("a closed process has answered")
			}
		})
	}
}

func TestProcessClosedBeforeItsStartRefusesCalls(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{})
	p.Close()
	p.Start()
	if _, err := ask(t, p, plain); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("error %v", err)
	}
}

// buffer is written and read by several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestAProgramThatDoesNotReadHangs asks more than a pipe holds.
func TestAProgramThatDoesNotReadHangs(t *testing.T) {
	t.Parallel()
	p := started(t, resident.Options{InFlight: 2, Timeout: 100 * time.Millisecond})
	first, err := ask(t, p, plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := askFor(t, p, call{Hang: true}, time.Millisecond); err == nil {
		t.Fatal("a program that hangs has answered")
	}
	if _, err := ask(t, p, call{Say: strings.Repeat("x", 1<<20)}); err == nil || !strings.Contains(err.Error(), "it hangs") {
		t.Errorf("error %v", err)
	}
	if second, err := ask(t, p, plain); err != nil || second == first {
		t.Errorf("the next call: %s, %v; want another process than %s", second, err, first)
	}
}
