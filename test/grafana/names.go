package grafana

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// Shown are metrics by name, as they are stored, each with its labels' values.
type Shown map[string]map[string][]string

// scraped are the labels that Prometheus puts on what it scrapes.
var scraped = []string{"namespace", "job", "instance"}

// Read reads what /metrics shows.
func Read(text io.Reader) (Shown, error) {
	reader := expfmt.NewTextParser(model.UTF8Validation)
	families, err := reader.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	shown := Shown{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			values := map[string]string{}
			for _, pair := range m.GetLabel() {
				values[pair.GetName()] = pair.GetValue()
			}
			if m.GetHistogram() == nil {
				shown.add(name, values)
				continue
			}
			shown.add(name+"_sum", values)
			shown.add(name+"_count", values)
			for _, b := range m.GetHistogram().GetBucket() {
				values["le"] = fmt.Sprint(b.GetUpperBound())
				shown.add(name+"_bucket", values)
			}
		}
	}
	return shown, nil
}

func (s Shown) add(name string, values map[string]string) {
	if s[name] == nil {
		s[name] = map[string][]string{}
	}
	for label, value := range values {
		if !slices.Contains(s[name][label], value) {
			s[name][label] = append(s[name][label], value)
		}
	}
}

// With adds what rules record, whose labels are those that they group by.
func (s Shown) With(rules []rulefmt.Rule) (Shown, error) {
	all := maps.Clone(s)
	for _, r := range rules {
		if r.Record == "" {
			continue
		}
		expr, err := promQL.ParseExpr(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("read the rule %s: %w", r.Record, err)
		}
		all[r.Record] = map[string][]string{}
		parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
			if by, ok := n.(*parser.AggregateExpr); ok {
				for _, label := range by.Grouping {
					all[r.Record][label] = nil
				}
			}
			return nil
		})
	}
	return all, nil
}

// Lacks says what an expression names that is not shown: metrics, labels that it
// selects or groups by, and values that it asks for. Where it is no PromQL it says so.
func (s Shown) Lacks(text string) (wrong []string) {
	expr, err := promQL.ParseExpr(text)
	if err != nil {
		return []string{"it can't be read: " + err.Error()}
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			wrong = append(wrong, s.selector(n)...)
		case *parser.AggregateExpr:
			wrong = append(wrong, s.grouping(n)...)
		}
		return nil
	})
	return wrong
}

func (s Shown) selector(v *parser.VectorSelector) (wrong []string) {
	known, ok := s[v.Name]
	if !ok {
		return []string{fmt.Sprintf("nobody shows %q", v.Name)}
	}
	for _, m := range v.LabelMatchers {
		values, ok := known[m.Name]
		switch {
		case m.Name == labels.MetricName || slices.Contains(scraped, m.Name):
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s has no label %q", v.Name, m.Name))
		case m.Type == labels.MatchEqual && !slices.Contains(values, m.Value):
			wrong = append(wrong, fmt.Sprintf("%s is never shown with %s", v.Name, m))
		case m.Type == labels.MatchRegexp:
			for one := range strings.SplitSeq(m.Value, "|") {
				if !slices.Contains(values, one) {
					wrong = append(wrong, fmt.Sprintf("%s is never shown with %s=%q", v.Name, m.Name, one))
				}
			}
		}
	}
	return wrong
}

// grouping is a label that is in none of the metrics that are grouped: nothing would
// be told apart by it.
func (s Shown) grouping(by *parser.AggregateExpr) (wrong []string) {
	var names []string
	parser.Inspect(by.Expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, v.Name)
		}
		return nil
	})
	for _, label := range by.Grouping {
		for _, name := range names {
			if _, ok := s[name][label]; !ok && s[name] != nil && !slices.Contains(scraped, label) {
				wrong = append(wrong, fmt.Sprintf("%s is grouped by %q, which it has not", name, label))
			}
		}
	}
	return wrong
}
