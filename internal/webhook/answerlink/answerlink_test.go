package answerlink_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

var asked = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func request() approval.Request {
	return approval.Request{
		ID: "mzxw6ytboi4tqnrsgqztgmbx", Options: []string{"Allow once", "Deny"}, DataSHA256: "44136fa3",
		Created: approval.At(asked), Expires: approval.At(asked.Add(5 * time.Minute)),
	}
}

func token(t *testing.T, k answerlink.Keys, q approval.Request, option int) string {
	t.Helper()
	url := k.URL("https://hooks.example.com", q, option)
	token, ok := strings.CutPrefix(url, "https://hooks.example.com/answer#")
	if !ok {
		t.Fatalf("link %s", url)
	}
	return token
}

func Example() {
	keys := answerlink.Derive([][]byte{[]byte("0123456789abcdef0123456789abcdef")})
	q := request()
	_, token, _ := strings.Cut(keys.URL("https://hooks.example.com", q, 0), "#")
	fmt.Println(keys.Check(token, q, asked))
	// Output: Allow once <nil>
}

func TestALinkAnswersOnlyWhatItWasMadeFor(t *testing.T) {
	keys := answerlink.Derive([][]byte{[]byte("one"), []byte("two")})
	given := token(t, keys, request(), 1)
	if option, err := keys.Check(given, request(), asked); option != "Deny" || err != nil {
		t.Fatalf("Check = %q, %v", option, err)
	}
	for what, change := range map[string]func(*approval.Request){
		"another request":   func(q *approval.Request) { q.ID = "another" },
		"other data":        func(q *approval.Request) { q.DataSHA256 = "55136fa3" },
		"another option":    func(q *approval.Request) { q.Options = []string{"Deny", "Allow once"} },
		"fewer options":     func(q *approval.Request) { q.Options = q.Options[:1] },
		"another last hour": func(q *approval.Request) { q.Expires = approval.At(asked.Add(time.Hour)) },
	} {
		q := request()
		change(&q)
		if option, err := keys.Check(given, q, asked); err == nil {
			t.Errorf("%s: Check = %q", what, option)
		}
	}
	if option, err := keys.Check(given, request(), asked.Add(5*time.Minute)); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("an expired link: %q, %v", option, err)
	}
}

func TestNoOtherByteOfALinkHolds(t *testing.T) {
	keys := answerlink.Derive([][]byte{[]byte("one")})
	given := token(t, keys, request(), 1)
	for i := range given[:len(given)-1] { // of the last character, four bits count
		for _, c := range []byte("0aZ_.") {
			if changed := given[:i] + string(c) + given[i+1:]; changed != given {
				if option, err := keys.Check(changed, request(), asked); err == nil {
					t.Fatalf("%s answers %q", changed, option)
				}
			}
		}
	}
}

func TestKeysCanBeChangedOneByOne(t *testing.T) {
	older := answerlink.Derive([][]byte{[]byte("one")})
	newer := answerlink.Derive([][]byte{[]byte("two"), []byte("one")})
	q := request()
	if _, err := newer.Check(token(t, older, q, 0), q, asked); err != nil {
		t.Errorf("the newer keys refuse a link of the older: %v", err)
	}
	if _, err := older.Check(token(t, newer, q, 0), q, asked); err == nil {
		t.Error("the older key accepts a link of the newer")
	}
	if _, err := (answerlink.Keys{}).Check(token(t, older, q, 0), q, asked); err == nil {
		t.Error("no key accepts a link")
	}
}

func FuzzCheck(f *testing.F) {
	keys := answerlink.Derive([][]byte{[]byte("one")})
	f.Add("mzxw6ytboi4tqnrsgqztgmbx.0.AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		if option, err := keys.Check(text, request(), asked); err == nil && text != keys.URL("", request(), 0)[len("/answer#"):] && text != keys.URL("", request(), 1)[len("/answer#"):] {
			t.Errorf("%q answers %q", text, option)
		}
	})
}
