package webhook

import (
	"strings"
	"testing"
)

// TestSign compares with the example of the Standard Webhooks libraries.
func TestSign(t *testing.T) {
	const vector = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	keys, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := sign(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if got != vector {
		t.Errorf("signature %s; want %s", got, vector)
	}
}

func TestEverySecretSigns(t *testing.T) {
	const one, two = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
	var single []string
	for _, secret := range []string{one, two} {
		keys, err := parseSecret(secret)
		if err != nil {
			t.Fatal(err)
		}
		single = append(single, sign(keys, "a", "1", nil))
	}
	keys, err := parseSecret(" " + one + "\n" + two + " ")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sign(keys, "a", "1", nil), strings.Join(single, " "); got != want {
		t.Errorf("signatures %s; want %s", got, want)
	}
}
