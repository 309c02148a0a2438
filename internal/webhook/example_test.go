package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func ExampleSender() {
	bridge := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, about, _ := strings.Cut(string(body), `"prompt":`)
		prompt, _, _ := strings.Cut(about, ",")
		fmt.Println(prompt, r.Header.Get("webhook-signature")[:3])
	}))
	defer bridge.Close()

	sender, err := webhook.New(webhook.Options{URLs: []string{bridge.URL}, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	sender.Notify(ctx, approval.Notice{Request: approval.Request{ID: "q1", Prompt: "Run it?"}})
	cancel() // what waits is still sent
	if err := sender.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: "Run it?" v1,
}
