package version

import (
	"regexp"
	"runtime/debug"
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

func TestBuildNamesTheCommitAndItsDate(t *testing.T) {
	vcs := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "82c61ec0123456789abcdef"}, {Key: "vcs.time", Value: "2026-11-23T14:40:02Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for name, c := range map[string]struct {
		version string
		info    *debug.BuildInfo
		want    string
	}{
		"a checkout":              {next, vcs, next + " (commit 82c61ec01234, 2026-11-23T14:40:02Z, with changes)"},
		"go install of a commit":  {"v0.0.0-20261123144002-82c61ec01234", nil, next + " (commit 82c61ec01234, 2026-11-23T14:40:02Z)"},
		"go install of a release": {"v1.2.3", nil, "v1.2.3 (commit unknown)"},
		"nothing is known":        {next, nil, next + " (commit unknown)"},
	} {
		if got := build(c.version, c.info); got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
	release, commit, date = "1.2.3", "0123456789abcdef", "2026-01-02T03:04:05Z"
	t.Cleanup(func() { release, commit, date = "", "", "" })
	if got, want := Build(), "1.2.3 (commit 0123456789ab, 2026-01-02T03:04:05Z)"; got != want {
		t.Errorf("a release: %q; want %q", got, want)
	}
}
