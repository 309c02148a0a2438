package version

import (
	"regexp"
	"testing"
)

func TestNumberIsASemanticVersion(t *testing.T) {
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(Number()) {
		t.Errorf("Number is %q", Number())
	}
}

func TestAReleaseIsWhatTheLinkerSays(t *testing.T) {
	release = "1.2.3-rc.1"
	t.Cleanup(func() { release = "" })
	if Number() != release || String() != release {
		t.Errorf("Number is %q and String %q; want %q", Number(), String(), release)
	}
}

func TestElsewhereStringIsNeverEmpty(t *testing.T) {
	if String() == "" {
		t.Error("String is empty")
	}
}
