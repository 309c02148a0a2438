package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Use determines whether the answers of a bundle's hooks have an effect.
type Use string

// The uses.
const (
	Enforce Use = "enforce" // answers have an effect
	Shadow  Use = "shadow"  // answers are only recorded; the enforced bundle runs as well
)

// Statement is the signed description of a bundle.
type Statement struct {
	Name     string    // of the policy; see [CheckName]
	Serial   uint64    // grows with each bundle of the name, from 1
	Use      Use       // enforce or shadow
	Restores uint64    // the serial whose files a rollback restores; 0 for no rollback
	Commit   string    // in the repository with the files, in hexadecimal digits; empty if unknown
	Created  time.Time // in seconds, UTC
	Digest   string    // SHA-256 of the files, in 64 hexadecimal digits
}

// first is the first line of a statement. It distinguishes statements from other texts that a key
// may sign.
const first = "hookrouter policy v1"

// maxSerial limits serials to values that fit into a signed 64-bit integer.
const maxSerial = math.MaxInt64

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// CheckName returns an error if the name of a policy is invalid.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("the name of a policy has 1 to 64 small letters, digits, dots, dashes and underscores, and begins with a letter or a digit, unlike %q", name)
	}
	return nil
}

// Version returns name, serial and digest, such as "production@7 sha256:…".
func (s Statement) Version() string {
	return fmt.Sprintf("%s@%d sha256:%s", s.Name, s.Serial, s.Digest)
}

// Short returns name and serial, such as "production@7".
func (s Statement) Short() string { return fmt.Sprintf("%s@%d", s.Name, s.Serial) }

// Check returns an error if a statement is invalid.
func (s Statement) Check() error {
	switch {
	case !nameForm.MatchString(s.Name):
		return CheckName(s.Name)
	case s.Serial == 0 || s.Serial > maxSerial:
		return errors.New("a serial is at least 1")
	case s.Use != Enforce && s.Use != Shadow:
		return fmt.Errorf("use is enforce or shadow, not %q", s.Use)
	case s.Restores >= s.Serial:
		return fmt.Errorf("it restores %d, which is not before %d", s.Restores, s.Serial)
	case s.Commit != "" && !commitForm.MatchString(s.Commit):
		return errors.New("the commit is not a hash")
	case s.Created.IsZero() || s.Created.Year() < 2000 || s.Created.Year() > 9999:
		return errors.New("it has no time")
	case !digestForm.MatchString(s.Digest):
		return errors.New("the digest has not 64 hexadecimal digits")
	}
	return nil
}

// text returns the text that is signed.
func (s Statement) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nname %s\nserial %d\nuse %s\n", first, s.Name, s.Serial, s.Use)
	if s.Restores > 0 {
		fmt.Fprintf(&b, "restores %d\n", s.Restores)
	}
	if s.Commit != "" {
		fmt.Fprintf(&b, "commit %s\n", s.Commit)
	}
	fmt.Fprintf(&b, "created %s\nsha256 %s\n", s.Created.UTC().Format(time.RFC3339), s.Digest)
	return b.String()
}

// parse parses a signed text. It rejects any text that differs from the one that text returns.
func parse(text string) (s Statement, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != first {
		return s, fmt.Errorf("it does not begin with %q", first)
	}
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "name":
			s.Name = value
		case "serial":
			s.Serial, err = strconv.ParseUint(value, 10, 63)
		case "use":
			s.Use = Use(value)
		case "restores":
			s.Restores, err = strconv.ParseUint(value, 10, 63)
		case "commit":
			s.Commit = value
		case "created":
			s.Created, err = time.Parse(time.RFC3339, value)
		case "sha256":
			s.Digest = value
		default:
			return s, fmt.Errorf("it says %.40q, which this version does not know", key)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := s.Check(); err != nil {
		return s, err
	}
	if s.text() != text {
		return s, errors.New("it is not written as statements are")
	}
	return s, nil
}

// DigestOf returns the SHA-256 of the lines that sha256sum prints for the files.
func DigestOf(files []File) string {
	sum := sha256.New()
	for _, f := range files {
		one := sha256.Sum256([]byte(f.Text))
		fmt.Fprintf(sum, "%x  %s\n", one, f.Name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
