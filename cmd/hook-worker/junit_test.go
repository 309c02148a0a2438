package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// junit is what a CI system reads.
type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Errors int `xml:"errors,attr"`
		Cases  []struct {
			File  string `xml:"file,attr"`
			Line  int    `xml:"line,attr"`
			Error *struct {
				Message string `xml:"message,attr"`
			} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func readJUnit(t *testing.T, path string) (j junit) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &j); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return j
}

func TestJUnitIsRedWhereNothingCouldBeTried(t *testing.T) {
	t.Parallel()
	well, untested := write(t, tested), write(t, strings.Split(tested, "tests:")[0])
	wrong := write(t, tested+"    - x\n")
	two := write(t, strings.Replace(tested, "deny: frozen", "deny: '{{ x }}'", 1)+"  - {name: b, event: 'a b'}\n")
	cut, empty := write(t, `{"event":"a:b"}`+"\n{\n"), write(t, "")
	for name, c := range map[string]struct {
		args     []string
		tests    int
		errors   int
		file     string
		line     int
		message  string
		exitCode int
	}{
		"a file that is wrong":         {[]string{wrong}, 1, 1, wrong, 5, wrong + ":5:", 1},
		"a file with two faults":       {[]string{two}, 2, 2, two, 2, two + ":2:", 1},
		"a file that isn't there":      {[]string{"/no/such.yaml"}, 1, 1, "/no/such.yaml", 0, "no such file", 1},
		"no tests":                     {[]string{untested}, 1, 1, untested, 0, "has no tests", 1},
		"one of two":                   {[]string{wrong, well}, 2, 1, wrong, 5, wrong + ":5:", 1},
		"a line that is no event":      {[]string{"--events", cut, well}, 2, 1, cut, 2, cut + ":2: the line is not JSON", 1},
		"no events":                    {[]string{"--events", empty, well}, 1, 1, empty, 0, "there are no events in it", 1},
		"events that aren't there":     {[]string{"--events", "/no/such", well}, 1, 1, "/no/such", 0, "no such file", 1},
		"events from a directory":      {[]string{"--events", filepath.Dir(well), well}, 1, 1, filepath.Dir(well), 0, "is a directory: give a file", 1},
		"events and a file with fault": {[]string{"--events", cut, wrong}, 1, 1, wrong, 5, wrong + ":5:", 1},
		"events and two files":         {[]string{"--events", cut, well, well}, 1, 1, cut, 0, "events run through one worker file", 1},
	} {
		t.Run(name, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "report.xml")
			stdout, _, err := tries(t, append([]string{"--json", "--junit", report}, c.args...)...)
			j := readJUnit(t, report)
			if err == nil || exitCode(err) != c.exitCode || j.Tests != c.tests || j.Errors != c.errors || j.Failures != 0 {
				t.Errorf("%v, exit code %d; JUnit has %+v", err, exitCode(err), j)
			}
			found := false
			for _, s := range j.Suites {
				for _, one := range s.Cases {
					found = found || s.Errors > 0 && one.Error != nil && one.File == c.file && one.Line == c.line && strings.Contains(one.Error.Message, c.message)
				}
			}
			if !found {
				t.Errorf("JUnit has %+v; want an error of %s:%d, %s", j, c.file, c.line, c.message)
			}
			if n := strings.Count(stdout, `{"kind":"error"`); n != c.errors || !strings.Contains(stdout, `{"kind":"summary"`) {
				t.Errorf("stdout is\n%s", stdout)
			}
		})
	}
}

func TestJUnitIsRedWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report := filepath.Join(t.TempDir(), "report.xml")
	var out bytes.Buffer
	err := run(ctx, []string{"test", "--text", "--junit", report, write(t, tested)}, process{stdout: &out, stderr: &out})
	if j := readJUnit(t, report); err == nil || exitCode(err) != 1 || j.Errors != 1 || !strings.HasPrefix(j.Suites[0].Cases[0].Error.Message, "interrupted") {
		t.Errorf("%v; JUnit has %+v", err, j)
	}
}

// TestAnOlderReportDoesNotOutliveAKill: until all is run there is none.
func TestAnOlderReportDoesNotOutliveAKill(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "report.xml")
	if err := os.WriteFile(report, []byte("<testsuites/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := -1
	out := writer(func(b []byte) {
		if text, err := os.ReadFile(report); err == nil && seen < 0 {
			seen = len(text)
		}
	})
	if err := run(t.Context(), []string{"test", "--text", "--junit", report, write(t, tested)}, process{stdout: out, stderr: out}); err != nil || seen != 0 {
		t.Errorf("%v; at the first result the report had %d bytes; want none", err, seen)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

func TestJUnitOfAFailureSaysWhatTheHooksDid(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "report.xml")
	file := write(t, strings.Replace(tested, "action: deny", "action: continue", 1))
	_, _, err := tries(t, "--junit", report, file)
	text, _ := os.ReadFile(report)
	if want := "- freeze: deny: frozen (" + file + ":2, rules[0])</failure>"; err == nil || !strings.Contains(string(text), want) {
		t.Errorf("%v; JUnit is %s", err, text)
	}
}
