package grafana

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
)

func TestTheDashboardCanBeDrawn(t *testing.T) {
	for _, wrong := range Drawn(board(t)) {
		t.Error(wrong)
	}
}

func TestAlertsTellWhatOneMustKnow(t *testing.T) {
	for _, wrong := range Annotated(deployed(t)) {
		t.Error(wrong)
	}
}

func TestTheRunbookExplainsEachAlert(t *testing.T) {
	for _, wrong := range Explained(deployed(t), string(read(t, pageAt))) {
		t.Error(wrong)
	}
}

func TestTheTableOfAlertsIsTheirs(t *testing.T) {
	page := string(read(t, root+"/docs/telemetry.md"))
	alerts := 0
	for _, r := range deployed(t) {
		if r.Alert == "" {
			continue
		}
		alerts++
		if row := regexp.MustCompile("(?m)^\\| `" + r.Alert + "` \\|.*\\| " + r.Labels["severity"] + " \\|$"); !row.MatchString(page) {
			t.Errorf("docs/telemetry.md has no row of %s with its severity %s", r.Alert, r.Labels["severity"])
		}
	}
	if rows := strings.Count(page, "| `HookRouter"); rows != alerts {
		t.Errorf("docs/telemetry.md has %d alerts, the rules have %d", rows, alerts)
	}
}

// Panels lead to sections of the runbook that are there.
func TestPanelsNameSectionsThatAreThere(t *testing.T) {
	for _, p := range board(t).Panels {
		_, rest, ok := strings.Cut(p.Description, "docs/runbook.md#")
		if !ok {
			continue
		}
		anchor := strings.TrimSuffix(rest, ".")
		if !slices.ContainsFunc(deployed(t), func(r rulefmt.Rule) bool { return strings.ToLower(r.Alert) == anchor }) {
			t.Errorf("%q leads to the section %q, which is not there", p.Title, anchor)
		}
	}
}

// What the runbook has one run is there: each command of hookctl, with its flags.
func TestTheCommandsOfTheRunbookAreThere(t *testing.T) {
	page, hookctl := string(read(t, pageAt)), program(t, "hookctl")
	commands := append(Snippets(page, "sh"), regexp.MustCompile("`(hookctl [^`]+)`").FindAllString(page, -1)...)
	count := 0
	for _, line := range commands {
		words := strings.Fields(strings.Trim(line, "`"))
		if words[0] != "hookctl" {
			continue
		}
		count++
		if wrong := command(hookctl, words[1:]); wrong != "" {
			t.Errorf("%s: %s", line, wrong)
		}
	}
	if count < 20 {
		t.Errorf("only %d commands are found", count)
	}
	for want, line := range map[string]string{
		"has no --failed-opened": "audit query --failed-opened", "unexpected argument": "approval list", "has no --hook": "audit stats --hook HOOK",
	} {
		if got := command(hookctl, strings.Fields(line)); !strings.Contains(got, want) {
			t.Errorf("%s: found is %q, want %q", line, got, want)
		}
	}
}

// command says what is wrong with a command of hookctl, by its help.
func command(hookctl string, words []string) string {
	names := words
	if end := slices.IndexFunc(words, func(w string) bool { return !regexp.MustCompile(`^[a-z]+$`).MatchString(w) }); end >= 0 {
		names = words[:end]
	}
	help, err := exec.Command(hookctl, append(slices.Clone(names), "--help")...).CombinedOutput()
	if err != nil {
		return string(help)
	}
	for _, word := range words {
		if strings.HasPrefix(word, "--") && !regexp.MustCompile(word+`[=\s]`).Match(help) {
			return "its help has no " + word
		}
	}
	return ""
}

func TestPlantedViolationsOfTheDashboardAreFound(t *testing.T) {
	whole := string(read(t, boardAt))
	for name, tt := range map[string]struct{ old, planted, want string }{
		"two panels with an id": {`"id": 3,`, `"id": 2,`, "has the id 2"},
		"upon another":          {`"x": 4,`, `"x": 3,`, "stands upon"},
		"out of the grid":       {`"w": 24,`, `"w": 25,`, "does not stand in the grid"},
		"another data source":   {`"uid": "${datasource}"`, `"uid": "prod"`, "does not ask ${datasource}"},
		"no unit":               {`"unit": "reqps"`, `"unit": ""`, "has no title, description or unit"},
		"a query twice":         {`"refId": "B"`, `"refId": "A"`, `two queries "A"`},
		"no title":              {`"title": "Hook router"`, `"title": ""`, "no title or no uid"},
	} {
		if !strings.Contains(whole, tt.old) {
			t.Errorf("%s: the dashboard has no %s", name, tt.old)
		}
		d := &Dashboard{}
		if err := json.Unmarshal([]byte(strings.Replace(whole, tt.old, tt.planted, 1)), d); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Drawn(d), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: found is %q, want %q", name, got, tt.want)
		}
	}
}

func TestPlantedViolationsOfTheRulesAreFound(t *testing.T) {
	good := func() rulefmt.Rule {
		return rulefmt.Rule{
			Alert: "HookRouterX", Labels: map[string]string{"severity": "info"},
			Annotations: map[string]string{"summary": "s", "description": "d", "runbook_url": runbook + "#hookrouterx"},
		}
	}
	section := "## HookRouterX\n\n**What it means.** a\n**How to look.** b\n**What to do.** c\n"
	if wrong := slices.Concat(Annotated([]rulefmt.Rule{good()}), Explained([]rulefmt.Rule{good()}, section)); len(wrong) > 0 {
		t.Error(wrong)
	}
	for want, change := range map[string]func(*rulefmt.Rule){
		`has the severity "page"`: func(r *rulefmt.Rule) { r.Labels["severity"] = "page" },
		"has no summary":          func(r *rulefmt.Rule) { r.Annotations["summary"] = "" },
		"has no description":      func(r *rulefmt.Rule) { delete(r.Annotations, "description") },
		"has the runbook_url":     func(r *rulefmt.Rule) { r.Annotations["runbook_url"] = runbook },
	} {
		r := good()
		change(&r)
		if got := strings.Join(Annotated([]rulefmt.Rule{r}), "\n"); !strings.Contains(got, want) {
			t.Errorf("found is %q, want %q", got, want)
		}
	}
	for want, page := range map[string]string{
		`has no section "HookRouterX"`:   "## HookRouterY\n",
		"which is not an alert":          section + "## HookRouterY\n",
		`has no part **What to do.**`:    strings.ReplaceAll(section, "to do", "else"),
		`has no part **What it means.**`: "**What it means.**\n" + strings.ReplaceAll(section, "What it means", ""),
	} {
		if got := strings.Join(Explained([]rulefmt.Rule{good()}, page), "\n"); !strings.Contains(got, want) {
			t.Errorf("found is %q, want %q", got, want)
		}
	}
	for name, text := range map[string]string{
		"no PromQL":       "groups: [{name: a, rules: [{alert: A, expr: 'sum('}]}]",
		"an unknown word": "groups: [{name: a, rules: [{alert: A, expr: '1', until: 1m}]}]",
	} {
		if _, err := Rules([]byte(text)); err == nil {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
