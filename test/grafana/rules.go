package grafana

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// promQL is the parser, without what is experimental.
var promQL = parser.NewParser(parser.Options{})

// Rules are a file's rules, in its order.
func Rules(text []byte) ([]rulefmt.Rule, error) {
	groups, errs := rulefmt.Parse(text, false, model.UTF8Validation, promQL, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, fmt.Errorf("read rules: %v", errs)
	}
	var rules []rulefmt.Rule
	for _, group := range groups.Groups {
		rules = append(rules, group.Rules...)
	}
	return rules, nil
}

// runbook is where the runbook is for those who are alerted.
const runbook = "https://github.com/hookrouter/hookrouter/blob/main/docs/runbook.md"

// Annotated says which alerts do not tell those they wake what they must know.
func Annotated(rules []rulefmt.Rule) (wrong []string) {
	for _, r := range rules {
		if r.Alert == "" {
			continue
		}
		switch r.Labels["severity"] {
		case "critical", "warning", "info":
		default:
			wrong = append(wrong, fmt.Sprintf("%s has the severity %q", r.Alert, r.Labels["severity"]))
		}
		for _, name := range []string{"summary", "description"} {
			if r.Annotations[name] == "" {
				wrong = append(wrong, fmt.Sprintf("%s has no %s", r.Alert, name))
			}
		}
		if want := runbook + "#" + strings.ToLower(r.Alert); r.Annotations["runbook_url"] != want {
			wrong = append(wrong, fmt.Sprintf("%s has the runbook_url %q, not %s", r.Alert, r.Annotations["runbook_url"], want))
		}
	}
	return wrong
}
