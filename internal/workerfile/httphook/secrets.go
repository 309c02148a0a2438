package httphook

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/http/httpguts"

	"github.com/hookrouter/hookrouter/internal/webhook/signature"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// maxSecretFile bounds a file with a secret or a certificate, in bytes.
const maxSecretFile = 64 << 10

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved matches the headers that belong to the request itself.
var reserved = regexp.MustCompile(`(?i)^(host|content-.*|transfer-encoding|connection|te|trailer|upgrade|webhook-.*|hook-.*|ce-.*|traceparent|tracestate)$`)

// checkSecrets checks the names of headers, variables and files.
func (c Config) checkSecrets() error {
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		at := jsontext.Pointer("/headers").AppendToken(name)
		if !httpguts.ValidHeaderFieldName(name) || reserved.MatchString(name) {
			return kind.At(at, "is not a header that may be set here")
		}
		if !variable.MatchString(c.Headers[name]) {
			return &kind.FieldError{Pointer: at, Err: kind.ErrNoVariable}
		}
	}
	switch {
	case c.SecretEnv != "" && c.SecretFile != "":
		return kind.At("/secret_file", "there is secret_env too: give one of them")
	case c.SecretEnv != "" && !variable.MatchString(c.SecretEnv):
		return &kind.FieldError{Pointer: "/secret_env", Err: kind.ErrNoVariable}
	}
	return nil
}

// headers reads the values of headers from the environment.
func headers(names map[string]string) (http.Header, error) {
	header := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := jsontext.Pointer("/headers").AppendToken(name)
		value := os.Getenv(names[name])
		if value == "" {
			return nil, kind.Lacks(at, kind.ErrNoVariable)
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, kind.Lacks(at, fmt.Errorf("the value of %s can't be sent in a header: it has control characters", names[name]))
		}
		header.Set(name, value)
	}
	return header, nil
}

// secret reads the signing keys. It returns nil if there are none.
func secret(dir string, c Config) (signature.Keys, error) {
	at, text := jsontext.Pointer("/secret_env"), ""
	switch {
	case c.SecretEnv != "":
		if text = os.Getenv(c.SecretEnv); text == "" {
			return nil, kind.Lacks(at, kind.ErrNoVariable)
		}
	case c.SecretFile != "":
		at = "/secret_file"
		raw, err := readFile(dir, c.SecretFile)
		if err != nil {
			return nil, kind.Lacks(at, err)
		}
		text = string(raw)
	default:
		return nil, nil
	}
	keys, err := signature.Parse(text)
	if err != nil {
		return nil, kind.Lacks(at, err)
	}
	return keys, nil
}

// readFile reads a small file. A relative path is relative to dir.
func readFile(dir, path string) ([]byte, error) {
	path = kind.Worker{Dir: dir}.Path(path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read it: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxSecretFile:
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", path, maxSecretFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	return raw, nil
}
