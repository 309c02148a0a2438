package console_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What looks at the pages for people who can't see or point.
const (
	axeVersion = "4.14.1"
	axeDigest  = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c" // of axe.min.js
)

// axe is the text of axe-core, which npm installs in the user's cache. Without npm the test
// is skipped.
func axe(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "hookrouter-test", "axe-core-"+axeVersion)
	path := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	text, err := os.ReadFile(path)
	if err != nil {
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip("there is no npm here, which gets axe-core")
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-save",
			"--loglevel=error", "--prefix", dir, "axe-core@"+axeVersion)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm could not get axe-core %s: %v\n%s", axeVersion, err, out[:min(len(out), 400)])
		}
		if text, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != axeDigest {
		t.Fatalf("%s is not axe-core %s: remove it", path, axeVersion)
	}
	return string(text)
}

// accessible looks at what the page shows now.
func accessible(t *testing.T, ctx context.Context, axe, name string) {
	t.Helper()
	if !value[bool](t, ctx, `"axe" in window`) {
		do(t, ctx, run(axe+"\n;0"))
	}
	found := value[[]string](t, ctx, `axe.run(document, {resultTypes: ["violations"]}).then(({violations}) =>
		violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " ").slice(0, 300))))`)
	for _, violation := range found {
		t.Errorf("%s: %s", name, violation)
	}
}

// fits checks that nothing is cut off or has to be moved sideways, and that fingers hit what
// they are to.
func fits(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if over := value[[]string](t, ctx, `[document.documentElement, ...document.querySelectorAll("body *")].filter((e) => e.clientWidth > 0 &&
		e.scrollWidth > e.clientWidth + 1 && !["INPUT", "SELECT", "SUMMARY"].includes(e.tagName) && getComputedStyle(e).display !== "inline" &&
		!e.closest(".sr, thead")).map((e) => e.tagName + "#" + e.id + "." + e.className + " " + e.scrollWidth + ">" + e.clientWidth)`); len(over) > 0 {
		t.Errorf("%s: it scrolls sideways: %v", name, over)
	}
	if small := value[[]string](t, ctx, fmt.Sprintf(`innerWidth > 700 ? [] : %s.filter((e) => { const box = e.getBoundingClientRect(); return box.height < 43.5 || box.width < 43.5; })
		.map((e) => e.outerHTML.slice(0, 120) + " " + JSON.stringify(e.getBoundingClientRect()))`, targets)); len(small) > 0 {
		t.Errorf("%s: too small for a thumb: %v", name, small)
	}
}

// targets are what can be used now: in a dialog that alone.
const targets = `[...(document.querySelector("dialog[open]") ?? document).querySelectorAll("a[href], button, input, select, summary")].filter((e) => e.checkVisibility() && !e.disabled)`

// byKeyboard checks that Tab gets to all that can be used.
func byKeyboard(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	count := value[int](t, ctx, `window.reached = new Set(), document.activeElement.blur(), `+targets+`.length`)
	for range count + 8 {
		do(t, ctx, pressTab, run(`reached.add(document.activeElement)`))
	}
	if missed := value[[]string](t, ctx, targets+`.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 120))`); len(missed) > 0 {
		t.Errorf("%s: out of reach of the keyboard: %v", name, missed)
	}
}
