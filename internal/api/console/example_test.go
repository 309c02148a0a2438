package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/hookrouter/hookrouter/internal/api/console"
)

// A program answers an approval request over HTTP.
func Example() {
	svc := newMemory()
	svc.ask(question("q1"))

	c := console.New(console.Options{Approvals: svc})
	defer c.Close()
	server := httptest.NewServer(c.Handler())
	defer server.Close()

	r, _ := http.NewRequest(http.MethodPost, server.URL+"/v1/approvals/q1", strings.NewReader(`{"option":"Allow once"}`))
	r.Header.Set("Authorization", "Bearer "+c.Token())
	answer, err := server.Client().Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Print(string(body))
	fmt.Println(svc.decision("q1").DecidedBy)
	// Output:
	// {"status":"accepted","option":"Allow once"}
	// console token
}
