package signature_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/webhook/signature"
)

func signed(t *testing.T, secret, id string, at int64, body string) string {
	t.Helper()
	keys, err := signature.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	keys.Set(header, id, time.Unix(at, 0), []byte(body))
	return header.Get("webhook-signature")
}

// The secret and the signature are the example of the Standard Webhooks libraries.
func Example() {
	keys, err := signature.Parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		fmt.Println(err)
		return
	}
	header := http.Header{}
	keys.Set(header, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	fmt.Println(header.Get("webhook-timestamp"), header.Get("webhook-signature"))
	// Output: 1614265330 v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
}

func TestEverySecretSigns(t *testing.T) {
	const one, two = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
	want := signed(t, one, "a", 1, "") + " " + signed(t, two, "a", 1, "")
	if got := signed(t, " "+one+"\n"+two+" ", "a", 1, ""); got != want {
		t.Errorf("signatures %s; want %s", got, want)
	}
}

func TestASecretThatIsNoneIsNotShown(t *testing.T) {
	for _, secret := range []string{"", " ", "hunter2hunter2hunter2hunter2", "whsec_hunter2", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw hunter2"} {
		if _, err := signature.Parse(secret); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Parse(%q) = %v", secret, err)
		}
	}
}
