package redact_test

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

func ExampleObject() {
	raw := []byte(`{"to":"bob", "id":9007199254740993, "body":"My card is 4111-1111-1111-1111."}`)
	redacted, n := redact.Object(raw)
	fmt.Printf("%s\n%d replaced\n", redacted, n)
	// Output:
	// {"to":"bob", "id":9007199254740993, "body":"My card is [REDACTED:card]."}
	// 1 replaced
}

func ExampleParseRules() {
	rules, err := redact.ParseRules("redact.yaml", []byte(`
without: [email]
keys: [pin]
patterns:
  - name: employee
    pattern: 'EMP-[0-9]{6}'
allow:
  - 4111-1111-1111-1111
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	redacted, n := rules.Object([]byte(`{"to":"bob@example.com", "pin":1234, "cmd":"pay 4111-1111-1111-1111 --for EMP-123456 --token=abc"}`))
	fmt.Printf("%s\n%d replaced\n", redacted, n)

	_, err = redact.ParseRules("redact.yaml", []byte("keys: [pin]\npattern: x\n"))
	fmt.Println(err)
	// Output:
	// {"to":"bob@example.com", "pin":"[REDACTED:key]", "cmd":"pay 4111-1111-1111-1111 --for [REDACTED:employee] --token=[REDACTED:assignment]"}
	// 3 replaced
	// redact.yaml:2:1: unknown key "pattern": known are without, keys, patterns and allow
}
