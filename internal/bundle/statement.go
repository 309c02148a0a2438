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

// Use says whether the answers of a bundle's hooks count.
type Use string

// The uses.
const (
	Enforce Use = "enforce" // they count
	Shadow  Use = "shadow"  // they are only recorded, in addition to those of the enforced bundle
)

// Statement is the signed description of a bundle.
type Statement struct {
	Name     string    // of the policy; see [CheckName]
	Serial   uint64    // grows with each bundle of the name, from 1
	Use      Use       // whether its answers count
	Restores uint64    // of a rollback: the serial whose files it restores; 0 for none
	Commit   string    // of the repository with the files, in hexadecimal digits; empty if unknown
	Created  time.Time // in seconds, UTC
	Digest   string    // SHA-256 of the files, in 64 hexadecimal digits
}

// first is the line that distinguishes a statement from anything else that a key may sign.
const first = "hookrouter policy v1"

// maxSerial bounds serials, so that every language can hold one.
const maxSerial = math.MaxInt64

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// CheckName says what is wrong with the name of a policy.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("the name of a policy has 1 to 64 small letters, digits, dots, dashes and underscores, and begins with a letter or a digit, unlike %q", name)
	}
	return nil
}

// Version is like "production@7 sha256:…": name, serial and digest.
func (s Statement) Version() string {
	return fmt.Sprintf("%s@%d sha256:%s", s.Name, s.Serial, s.Digest)
}

// Short is like "production@7".
func (s Statement) Short() string { return fmt.Sprintf("%s@%d", s.Name, s.Serial) }

// Check says what is wrong with a statement.
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

// text is the form that is signed.
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

// parse reads the form that is signed. Each statement has exactly one text; parse refuses any other.
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

// DigestOf is the SHA-256 of files: of one line each, as sha256sum prints it.
func DigestOf(files []File) string {
	sum := sha256.New()
	for _, f := range files {
		one := sha256.Sum256([]byte(f.Text))
		fmt.Fprintf(sum, "%x  %s\n", one, f.Name)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
