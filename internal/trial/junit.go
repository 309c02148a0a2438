package trial

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// The elements of JUnit XML that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
		took     time.Duration
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes all results as JUnit XML, a suite for each file.
func (r *Report) JUnit(w io.Writer) error {
	all := junitSuites{Tests: r.Tests, Failures: r.Failed}
	var suite *junitSuite
	for _, result := range r.results {
		if suite == nil || suite.Name != result.File {
			suite = &junitSuite{Name: result.File}
			all.Suites = append(all.Suites, suite)
		}
		one := junitCase{Class: result.File, Name: result.Name, File: result.File, Line: result.Line, Time: seconds(result.Took)}
		if result.Kind == "event" {
			one.Name = fmt.Sprintf("line %d: %s", result.Line, result.Event)
			one.Output = outcome(result.Verdict)
		}
		if !result.OK {
			suite.Failures++
			one.Failure = &junitFailure{Message: result.Wrong[0], Text: strings.Join(result.Wrong, "\n")}
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
