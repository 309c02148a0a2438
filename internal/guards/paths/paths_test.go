package paths_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

func ExampleResolve() {
	pattern, err := paths.Parse("~/.ssh/**")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"../.ssh/id", "~/.ssh", "/root/.SSH/x", "ssh"} {
		path := paths.Resolve(text, "/home/eve/project")
		fmt.Println(path.Name(), path.MayBe(pattern), path.Is(pattern))
	}
	// Output:
	// /home/eve/.ssh/id true true
	// ~/.ssh true true
	// /root/.SSH/x true false
	// /home/eve/project/ssh false false
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		path, pattern string
		want          bool
	}{
		{"x/config", "**/.git/config", true},
		{"x/hooks", "**/.git/{config,hooks/**}", true},
		{"x/c*", "**/.git/config", true},
		{"x/y", "**/.git/config", false},
		{"x/usr", "/usr/**", false},
	} {
		pattern, err := paths.Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths.Resolve(c.path, "").Named(pattern); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.path, c.pattern, got, c.want)
		}
	}
}

func TestGlobsThatMeet(t *testing.T) {
	for _, c := range []struct {
		glob, pattern string
		want          bool
	}{
		{"/etc/sha*", "/etc/shadow", true},
		{"/etc/x*", "/etc/shadow", false},
		{"/*/shadow", "/etc/shadow", true},
		{"/*", "/etc/shadow", false},
		{"/repo/*", "**/.env", false},
		{"/repo/.*", "**/.env", true},
		{"/repo/*/.env", "**/.env", true},
		{"/etc/*", "/etc/**", true},
		{"/a/*", "/etc/**", false},
		{"/repo/*", "**/secrets/**", true},
		{"/repo/pre*", "/repo/settings*.json", false},
		{"/repo/set*", "/repo/settings*.json", true},
		{"/home/*/.ssh/*", "~/.ssh/**", true},
		{"/repo/*.go", "**/*.pem", false},
		{"/repo/*.p?m", "**/*.pem", true},
		{"/repo/a*.go", "/repo/*.{go,pem}", true},
		{"/repo/a*.go", "/repo/*.{c,pem}", false},
		{"/repo/a*m", "/repo/*.pem", true},
		{"/repo/*.go", "/repo/*.g[o]", true},
		{"/repo/*.go", "/repo/*[.]o", true},
		{"/repo/*.c", "/repo/*[.]o", false},
		{"/repo/*.g[o]", "/repo/*.go", true},
		{"/repo/*", "/repo/*.pem", true},
		{"/repo/.{env,x}*", "**/.env", true},
		{"/repo/.{exe,x}*", "**/.env", false},
		{"/repo/{*.go,*.pem}", "**/*.pem", true},
		{"/repo/{" + strings.Repeat("a,", 64) + "b}*", "**/.env", true},
	} {
		pattern, err := paths.Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths.Resolve(c.glob, "").Globbed(pattern); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.glob, c.pattern, got, c.want)
		}
	}
}

// TestAMaskIsOneCharacter checks that the marker of a masked secret matches a single character, as
// in a shell, or itself. With other wildcards it is treated like any glob.
func TestAMaskIsOneCharacter(t *testing.T) {
	for _, c := range []struct {
		glob, pattern string
		want          bool
	}{
		{"/app/[REDACTED:github-token]", "**/nats*.conf", false},
		{"/app/[REDACTED:email]", "**/*.tfstate", false},
		{"/app/x-[REDACTED:email].txt", "**/x*.{pem,key}", false},
		{"/app/[REDACTED:email].tfstate", "**/*.tfstate", true},
		{"/app/terraform.tfstat[REDACTED:e]", "**/*.tfstate", true},
		{"/app/nats[REDACTED:x].conf", "**/nats*.conf", true},
		{"/app/na[REDACTED:t]s-a-s.conf", "**/nats*s.conf", true},
		{"/app/[REDACTED:n][REDACTED:a]ts.conf", "**/[m-o]ats?.conf", false},
		{"/app/[REDACTED:n][REDACTED:a]ts1.conf", "**/[m-o]ats?.conf", true},
		{"/app/ä[REDACTED:x]", "**/?x", true},
		{"/app/[REDACTED:x]", "/app/x", true},
		{"/app/[REDACTED:x]env", "**/.env", false},
		{"/app/.[REDACTED:x]nv", "**/.env*", true},
		{"/app/.+([REDACTED:nev])", "**/.env", true},
		{"/app/.[REDACTED:nev]{3}", "**/.env", true},
		{"/app/.[REDACTED:nev]*", "**/.env", true},
		{"/app/[REDACTED:UP]", "**/*.tfstate", false},
		{"/app/[REDACTED]", "**/*.tfstate", true},
		{"/app/[[REDACTED:x]", "**/*.tfstate", true},
		{"/app/[REDACTED:[:alpha:]]", "**/*.tfstate", true},
	} {
		pattern, err := paths.Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths.Resolve(c.glob, "").Globbed(pattern); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.glob, c.pattern, got, c.want)
		}
	}
}

// FuzzGlobsThatMeet checks that two globs which match a common name are reported to meet.
func FuzzGlobsThatMeet(f *testing.F) {
	f.Add("*.go", "*.pem", "a.go")
	f.Add("a*[b]", "?a[!a]", "aab")
	f.Add("{a,b*}", "*{b,c}", "bb")
	f.Add("[redacted:xy]b", "x*", "xb")
	f.Fuzz(func(t *testing.T, glob, other, name string) {
		pattern, err := paths.Parse("/" + other)
		if err != nil || strings.ContainsAny(glob+other+name, `/\.~:`) || !strings.ContainsAny(glob, "*?[{") {
			return
		}
		of, err := paths.Parse("/" + glob)
		if err != nil {
			return
		}
		if path := paths.Resolve("/"+name, ""); path.MayBe(of) && path.MayBe(pattern) && !paths.Resolve("/"+glob, "").Globbed(pattern) {
			t.Errorf("%q has both forms, %q and %q", name, glob, other)
		}
	})
}

func FuzzResolve(f *testing.F) {
	f.Add("a/../b", "/c", "**/b")
	f.Add(`C:\x`, "", "C:/**")
	f.Add("~/../x", "~", "~/**")
	f.Add("/****/", "", "/{a,*}/**/[b]")
	f.Fuzz(func(t *testing.T, text, cwd, glob string) {
		pattern, err := paths.Parse(glob)
		if err != nil {
			return
		}
		path := paths.Resolve(text, cwd)
		path.Globbed(pattern)
		path.Holds(pattern)
		if path.Is(pattern) && !path.MayBe(pattern) {
			t.Errorf("%q from %q is allowed by %q, and wouldn't be denied by it", text, cwd, glob)
		}
	})
}

func TestBraces(t *testing.T) {
	for glob, path := range map[string]string{
		"/a{b,c}d": "/acd", "/a{b,{c,d}e}": "/ade", "/{a,b}/{c,d}": "/b/c", "/a{,b}": "/a", "/{a}": "/a",
	} {
		pattern, err := paths.Parse(glob)
		if err != nil {
			t.Fatal(err)
		}
		if !paths.Resolve(path, "").Is(pattern) {
			t.Errorf("%s does not have %s", glob, path)
		}
	}
	for _, glob := range []string{"/{a", "/a}", "/[a", "a/b", `/a\{b`, "/{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", ""} {
		if p, err := paths.Parse(glob); err == nil {
			t.Errorf("%q became %+v", glob, p)
		}
	}
}

func TestAddressesOfFiles(t *testing.T) {
	for text, want := range map[string]string{
		"file:///etc/x": "/etc/x", "FILE:///etc/x": "/etc/x", "file:/etc/x": "/etc/x", "file://localhost/etc/x": "/etc/x",
		"file:///etc/%78?mode=ro": "/etc/x", "file:x.db?mode=ro": "/repo/x.db", "profile:x": "/repo/profile:x", "a%20b": "/repo/a%20b",
	} {
		if got := paths.Resolve(text, "/repo").Name(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
