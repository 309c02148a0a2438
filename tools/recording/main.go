// Command recording makes the pictures of README.md from the programs of this checkout: a
// terminal session as docs/images/terminal.svg, and the console with an approval request as
// docs/images/approval.png.
//
//	go -C tools run ./recording
//
// It needs the usual ports (4222, 8080 and 8081) free, the program script of util-linux, and
// Chromium for the second picture; -svg leaves that out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookrouter/hookrouter/tools/internal/checkout"
)

func main() {
	svgOnly := flag.Bool("svg", false, "make no screenshot")
	out := flag.String("out", "", "directory of the pictures; default docs/images of this checkout")
	flag.Parse()
	checkout.Main("recording", func(ctx context.Context) error { return run(ctx, *out, *svgOnly) })
}

// maxPictures limits the total size of the pictures, in bytes.
const maxPictures = 300 << 10

func run(ctx context.Context, out string, svgOnly bool) error {
	root, err := checkout.Root(ctx)
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(root, "docs", "images")
	}
	home, err := os.MkdirTemp("", "hookrouter-recording-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(home, "bin")+"/", "./cmd/...")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the programs: %w", err)
	}
	s, err := newSession(home)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.play(ctx); err != nil {
		return err
	}
	svg := []byte(draw("hook-router: a guard denies, and hookctl why says which rule did", s.lines))
	files := map[string][]byte{"terminal.svg": svg}
	if !svgOnly {
		if files["approval.png"], err = s.screenshot(ctx); err != nil {
			return err
		}
	}
	size := 0
	for name, content := range files {
		size += len(content)
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes\n", filepath.Join(out, name), len(content))
	}
	if size > maxPictures {
		return fmt.Errorf("the pictures have %d bytes: at most %d are allowed", size, maxPictures)
	}
	for _, l := range s.lines {
		if n := len([]rune(l.plain())); n > columns {
			return errors.New("a line is wider than the terminal: " + strings.TrimSpace(l.plain()))
		}
	}
	return nil
}
