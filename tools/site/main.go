// Command site builds the documentation site, with search, from the Markdown files of this
// checkout.
//
//	pip install -r tools/site/requirements.txt
//	go -C tools run ./site [-out DIR]
//
// zensical.toml lists the pages of the site. A page that is not listed and a broken link are
// errors. Links to other files point to the repository.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/tools/internal/checkout"
)

//go:embed zensical.toml
var config string

// source is the base URL of links to files that are not pages.
const source = "https://github.com/hookrouter/hookrouter/"

func main() {
	out := flag.String("out", "", "directory of the site, which is replaced; default dist/site of this checkout")
	zensical := flag.String("zensical", "zensical", "the program that renders pages")
	flag.Parse()
	checkout.Main("site", func(ctx context.Context) error { return run(ctx, *out, *zensical) })
}

func run(ctx context.Context, out, zensical string) error {
	root, err := checkout.Root(ctx)
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(root, "dist", "site")
	} else if out, err = filepath.Abs(out); err != nil {
		return err
	}
	list := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the files of the checkout: %w", err)
	}
	scratch, err := os.MkdirTemp("", "hookrouter-site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	s := newSite(root, strings.Fields(string(names)))
	if err := s.stage(scratch); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, zensical, "build", "--strict")
	build.Dir = scratch
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("render the pages: %w\n%s", err, color.ReplaceAll(said, nil))
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.CopyFS(out, os.DirFS(filepath.Join(scratch, "site"))); err != nil {
		return err
	}
	fmt.Printf("%s: %d pages\n", out, len(s.pages))
	return nil
}

var color = regexp.MustCompile("\x1b\\[[0-9;]*m")

// site is the site to render.
type site struct {
	root  string
	files map[string]bool // all files of the checkout and their directories
	pages map[string]bool // the pages in the navigation
	nav   string
}

var page = regexp.MustCompile(`"([^"]+\.md)"`)

func newSite(root string, files []string) *site {
	s := &site{root: root, files: map[string]bool{}, pages: map[string]bool{}}
	var decisions []string
	for _, file := range files {
		for name := file; name != "."; name = path.Dir(name) {
			s.files[name] = true
		}
		if strings.HasPrefix(file, "docs/adr/") {
			decisions = append(decisions, `"`+file+`"`)
		}
	}
	s.nav = strings.Replace(config, `"DECISIONS"`, "["+strings.Join(decisions, ", ")+"]", 1)
	for _, m := range page.FindAllStringSubmatch(s.nav, -1) {
		s.pages[m[1]] = true
	}
	return s
}

// stage writes the pages, their images and the configuration to a directory.
func (s *site) stage(dir string) error {
	var errs []error
	for file := range s.files {
		documented := strings.HasPrefix(file, "docs/") || strings.HasPrefix(file, "clients/")
		if documented && strings.HasSuffix(file, ".md") && !s.pages[file] {
			errs = append(errs, fmt.Errorf("%s: tools/site/zensical.toml does not name it", file))
		}
		if s.pages[file] {
			errs = append(errs, s.copy(dir, file))
		}
	}
	errs = append(errs, os.WriteFile(filepath.Join(dir, "zensical.toml"), []byte(s.nav), 0o600))
	return errors.Join(errs...)
}

func (s *site) copy(dir, file string) error {
	text, err := os.ReadFile(filepath.Join(s.root, file))
	if err != nil {
		return err
	}
	var errs []error
	if strings.HasSuffix(file, ".md") {
		var images []string
		var rewritten string
		rewritten, images, err = s.rewrite(file, string(text))
		text, errs = []byte(rewritten), append(errs, err)
		for _, image := range images {
			errs = append(errs, s.copy(dir, image))
		}
	}
	target := filepath.Join(dir, "pages", file)
	errs = append(errs, os.MkdirAll(filepath.Dir(target), 0o700), os.WriteFile(target, text, 0o600))
	return errors.Join(errs...)
}

var (
	fence = regexp.MustCompile("(?ms)^ *```.*?\n *```$")
	marks = regexp.MustCompile("^( *```\\w*)[^\n]*") // the words after the language, which tests read
	link  = regexp.MustCompile(`(!?\[[^\]]*\]\()([^)\s]+)\)`)
)

// rewrite points links to files that are not pages to the repository, and removes the words after
// the language of a snippet. images are the images of the page.
func (s *site) rewrite(file, text string) (_ string, images []string, err error) {
	replace := func(prose string) string {
		return link.ReplaceAllStringFunc(prose, func(found string) string {
			m := link.FindStringSubmatch(found)
			target, _, _ := strings.Cut(m[2], "#")
			if target == "" || strings.Contains(target, ":") {
				return found
			}
			name := path.Join(path.Dir(file), target)
			switch {
			case !s.files[name]:
				err = errors.Join(err, fmt.Errorf("%s: the link %s leads nowhere", file, m[2]))
			case s.pages[name]:
			case strings.HasPrefix(found, "!"):
				images = append(images, name)
			default:
				return m[1] + source + "tree/main/" + name + ")"
			}
			return found
		})
	}
	var b strings.Builder
	rest := 0
	for _, m := range fence.FindAllStringIndex(text, -1) {
		b.WriteString(replace(text[rest:m[0]]) + marks.ReplaceAllString(text[m[0]:m[1]], "$1"))
		rest = m[1]
	}
	b.WriteString(replace(text[rest:]))
	return b.String(), images, err
}
