// Package site_test tries the search of the documentation's site in a browser.
//
// HOOKROUTER_SITE is the directory of a site that tools/site built; without it, nothing is
// tried here.
package site_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestSearchFindsPages types words that one page each explains, and follows the result.
func TestSearchFindsPages(t *testing.T) {
	dir := os.Getenv("HOOKROUTER_SITE")
	if dir == "" {
		t.Skip("HOOKROUTER_SITE names no site")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here: apt-get install chromium")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1280, 860), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, _ = chromedp.NewContext(ctx)
	defer func() { _ = chromedp.Cancel(ctx) }() // waits for it

	for word, page := range map[string]string{
		"witness":       "/docs/audit/",
		"path-guard":    "/docs/builtins-guards/",
		"kustomization": "/docs/kubernetes/",
		"langgraph":     "/clients/python/docs/langgraph/",
	} {
		err := chromedp.Do(ctx,
			chromedp.Navigate(server.URL+"/"),
			chromedp.Click(chromedp.CSS(".md-search__button")),
			holds(`all("input").length > 0 && all("input")[0].matches(":focus")`),
			chromedp.KeyEvent(word),
			holds(fmt.Sprintf(`result(%q, %q)`, word, page)),
			script[chromedp.Void](fmt.Sprintf(`result(%q, %q).click()`, word, page)),
			holds(fmt.Sprintf(`location.pathname === %q && document.querySelector("h1")`, page)),
		)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// library looks into the search, which has a document tree of its own.
const library = `
	const all = selector => [...document.querySelectorAll("div")].flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll(selector)] : []);
	const result = (word, page) => all("a[role=option]").find(a => new URL(a.href).pathname === page && new URL(a.href).searchParams.get("h") === word);
`

func script[T any](expression string) chromedp.Action[T] {
	return chromedp.Evaluate[T]("(() => {"+library+"return "+expression+"})()", chromedp.EvalAwaitPromise)
}

// holds waits until an expression is true in the page.
func holds(expression string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			if yes, err := script[bool]("!!("+expression+")")(ctx, target); err == nil && yes {
				return none, nil
			}
			if _, err := chromedp.Sleep(20*time.Millisecond)(ctx, target); err != nil {
				return none, err
			}
		}
		return none, fmt.Errorf("it never holds: %s", expression)
	}
}
