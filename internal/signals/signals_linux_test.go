package signals_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookrouter/hookrouter/internal/signals"
)

// childEnv makes the test binary a program that prints what each signal means to it.
const childEnv = "SIGNALS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	if signal.Ignored(syscall.SIGHUP) { // as under nohup, and the children would inherit it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

func child() {
	ctx, sig, stop := signals.Notify(context.Background(), os.Stdin)
	defer stop()
	fmt.Println("ready")
	for {
		select {
		case <-ctx.Done():
			fmt.Println("ends")
			return
		case <-sig.Reload:
			fmt.Println("reloads")
		case <-sig.Level:
			fmt.Println("toggles the level")
		}
	}
}

// program is a running child and what it prints.
type program struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, stdin *os.File, attr *syscall.SysProcAttr, before ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(before, []string{self})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	p := &program{cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	p.cmd.Env = append(os.Environ(), childEnv+"=1")
	p.cmd.Stdin, p.cmd.SysProcAttr = stdin, attr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.prints(t, "ready")
	return p
}

func (p *program) prints(t *testing.T, want string) {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the program ended; want it to print %q", want)
	}
	if got := p.lines.Text(); got != want {
		t.Fatalf("the program prints %q, want %q", got, want)
	}
}

func (p *program) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// ends checks that the program ends by itself and not by the signal.
func (p *program) ends(t *testing.T) {
	t.Helper()
	p.prints(t, "ends")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestWithoutATerminal(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull) // a character device and no terminal: as services have it
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p := start(t, null, nil)
	for range 2 {
		p.signal(t, syscall.SIGHUP)
		p.prints(t, "reloads")
	}
	p.signal(t, syscall.SIGUSR1)
	p.prints(t, "toggles the level")
	p.signal(t, syscall.SIGTERM)
	p.ends(t)
}

func TestAnInterruptEndsTheProgram(t *testing.T) {
	t.Parallel()
	p := start(t, nil, nil)
	p.signal(t, os.Interrupt)
	p.ends(t)
}

// Closing the terminal ends the program that stands in its foreground.
func TestAClosedTerminalEndsTheProgram(t *testing.T) {
	t.Parallel()
	terminal, stdin := pseudoTerminal(t)
	p := start(t, stdin, &syscall.SysProcAttr{Setsid: true, Setctty: true})
	p.signal(t, syscall.SIGUSR1)
	p.prints(t, "toggles the level")
	_ = stdin.Close()
	_ = terminal.Close()
	p.ends(t)
}

func TestNohupSurvivesTheTerminal(t *testing.T) {
	t.Parallel()
	terminal, stdin := pseudoTerminal(t)
	p := start(t, stdin, &syscall.SysProcAttr{Setsid: true, Setctty: true}, "sh", "-c", `trap "" HUP; exec "$0"`)
	_ = stdin.Close()
	_ = terminal.Close()
	p.signal(t, syscall.SIGUSR1)
	p.prints(t, "toggles the level")
	p.signal(t, syscall.SIGTERM)
	p.ends(t)
}

// pseudoTerminal opens a terminal that a program can have as its own.
func pseudoTerminal(t *testing.T) (terminal, program *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	n, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return terminal, program
}
