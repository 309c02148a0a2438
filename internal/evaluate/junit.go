package evaluate

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The elements of JUnit XML that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
		took     time.Duration
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
		Error   *junitFailure `xml:"error"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes all results as JUnit XML, with a suite for each file. An error passed to
// [Report.Broken] is a case with an error, so that a reader of only this file sees it.
func (r *Report) JUnit(w io.Writer) error {
	all := junitSuites{Tests: r.Tests + r.Errors, Failures: r.Failed, Errors: r.Errors}
	var suite *junitSuite
	for _, result := range r.results {
		if suite == nil || suite.Name != result.File {
			suite = &junitSuite{Name: result.File}
			all.Suites = append(all.Suites, suite)
		}
		one := junitCase{Class: result.File, Name: result.Name, File: result.File, Line: result.Line, Time: seconds(result.Took)}
		one.Output = strings.Join(result.Warnings, "\n")
		if result.Kind == "event" {
			one.Name = fmt.Sprintf("line %d: %s", result.Line, result.Event)
			if result.Nth {
				one.Name, one.Line = fmt.Sprintf("event %d: %s", result.Line, result.Event), 0
			}
			one.Output = outcome(result.Verdict)
		}
		if !result.OK {
			wrong := &junitFailure{Message: result.Wrong[0], Text: strings.Join(append(slices.Clone(result.Wrong), result.Verdict.lines()...), "\n")}
			if result.Kind == "error" {
				suite.Errors++
				one.Error = wrong
			} else {
				suite.Failures++
				one.Failure = wrong
			}
		}
		suite.Cases = append(suite.Cases, one)
		suite.Tests++
		suite.took += result.Took
		suite.Time = seconds(suite.took)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(text)+"\n"); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
