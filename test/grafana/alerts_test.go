package grafana

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// firing is an alert that fires, in the minutes from the first to the one in which it
// does not any more; -1 for never.
type firing struct{ from, to int }

// evaluate evaluates the rules that are deployed, once a minute, on series in the
// notation of promtool with a sample each minute.
func evaluate(t *testing.T, series string, minutes int) map[string][]firing {
	t.Helper()
	all := "load 1m\n"
	for line := range strings.Lines(strings.TrimSpace(series) + "\n") {
		all += "  " + strings.TrimSpace(line) + "\n"
	}
	loader, err := promqltest.NewLazyLoader(all, promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = loader.Close() })
	loader.SubqueryInterval = time.Minute
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()), Appendable: loader.Storage(),
		Context: t.Context(), NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: promslog.NewNopLogger(), Parser: promQL,
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, rulesAt)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	found := map[string][]firing{}
	for minute := range minutes + 1 {
		at := time.Unix(int64(minute)*60, 0).UTC()
		loader.WithSamplesTill(at, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				group.Eval(t.Context(), at)
				for _, rule := range group.Rules() {
					if err := rule.LastError(); err != nil {
						t.Fatalf("%s: %v", rule.Name(), err)
					}
					if alert, ok := rule.(*rules.AlertingRule); ok {
						alert.SetRestored(true)
						note(t, found, alert, minute)
					}
				}
			}
		})
	}
	return found
}

func note(t *testing.T, found map[string][]firing, alert *rules.AlertingRule, minute int) {
	t.Helper()
	fires := false
	for _, one := range alert.ActiveAlerts() {
		if one.State != rules.StateFiring {
			continue
		}
		fires = true
		if text := one.Annotations.String(); strings.Contains(text, "error") || strings.Contains(text, "no value") {
			t.Errorf("%s says %s", alert.Name(), text)
		}
	}
	list := found[alert.Name()]
	switch ongoing := len(list) > 0 && list[len(list)-1].to < 0; {
	case fires && !ongoing:
		found[alert.Name()] = append(list, firing{minute, -1})
	case !fires && ongoing:
		list[len(list)-1].to = minute
	}
}

// each is a counter that grows by one each so many minutes.
func each(minutes, until int) string {
	var values []string
	for m := range until {
		values = append(values, fmt.Sprint(m/minutes))
	}
	return strings.Join(values, " ")
}

var never = firing{-1, -1}

var trials = []struct {
	alert, name string
	series      string
	minutes     int
	want        firing
}{
	{"FailedOpen", "the first failure that there is, until ten minutes later", `hookrouter_hook_failed_open_total{job="r",hook="h",class="timeout"} _x30 1x40`, 60, firing{30, 40}},
	{"FailedOpen", "one more", `hookrouter_hook_failed_open_total{job="r",hook="h",class="timeout"} _x2 0x30 1x40`, 60, firing{33, 42}},
	{"FailedOpen", "none", `hookrouter_hook_failed_open_total{job="r",hook="h",class="timeout"} 0x60`, 60, never},
	{"FailedOpen", "old ones, of which Prometheus missed a while", `hookrouter_hook_failed_open_total{job="r",hook="h",class="timeout"} 3x30 _x15 3x40`, 80, firing{0, 10}},

	{"HookFails", "three calls in ten", `
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="failed"} 0+3x60
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="continue"} 0+7x60`, 60, firing{11, -1}},
	{"HookFails", "one call in twenty", `
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="failed"} 0+1x60
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="continue"} 0+19x60`, 60, never},
	{"HookFails", "all, for three minutes", `
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="failed"} 0+9x3 27x60
		hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="continue"} 0x3 0+9x60`, 60, never},
	{"HookFails", "nobody calls", `hookrouter_hook_results_total{job="r",hook="h",event="tool:pre",action="failed"} 9x60`, 60, never},

	{"HookFlaps", "a crash each five minutes, on any replica", `
		hookrouter_registry_changes_total{job="r",instance="a",hook="h",action="expired"} ` + each(5, 100) + `
		hookrouter_registry_changes_total{job="r",instance="b",hook="h",action="instance"} ` + each(5, 100), 90, firing{45, -1}},
	{"HookFlaps", "a rollout of twenty", `
		hookrouter_registry_changes_total{job="r",hook="h",action="instance_removed"} 0x20 2 4 6 8 10 12 14 16 18 20x90
		hookrouter_registry_changes_total{job="r",hook="h",action="instance"} 0x20 2 4 6 8 10 12 14 16 18 20x90`, 120, never},
	{"HookFlaps", "many go and none comes", `
		hookrouter_registry_changes_total{job="r",hook="h",action="expired"} 0+1x90
		hookrouter_registry_changes_total{job="r",hook="h",action="instance"} 5x90`, 90, never},
	{"HookFlaps", "different hooks", `
		hookrouter_registry_changes_total{job="r",hook="a",action="expired"} 0+1x90
		hookrouter_registry_changes_total{job="r",hook="b",action="instance"} 0+1x90`, 90, never},
	{"HookFlaps", "hooks that have no label of their own", `
		hookrouter_registry_changes_total{job="r",hook="other",action="unregistered"} 0+1x90
		hookrouter_registry_changes_total{job="r",hook="other",action="registered"} 0+1x90`, 90, never},

	{"WorkerBehind", "one of two does not take its file", `
		hook_worker_file_current{job="w",instance="a"} 1x5 0x30
		hook_worker_file_current{job="w",instance="b"} 1x60`, 30, firing{8, -1}},
	{"WorkerBehind", "it is repaired", `hook_worker_file_current{job="w",instance="a"} 1x5 0x8 1x60`, 40, firing{8, 15}},
	{"WorkerBehind", "a file that is saved in two steps", `hook_worker_file_current{job="w",instance="a"} 1x5 0 1x60`, 30, never},

	{"ApprovalWaits", "an approval request gets old", `hookrouter_approvals_oldest_age_seconds{job="r"} 0 60 120 180 240 299 0x30`, 20, firing{4, 6}},
	{"ApprovalWaits", "each is answered in time", `hookrouter_approvals_oldest_age_seconds{job="r"} 0 60 119 0 60 120 0 60 0x30`, 20, never},
	{"ApprovalWaits", "one that is answered meanwhile", `hookrouter_approvals_oldest_age_seconds{job="r"} 0 100 160 0x30`, 20, never},

	{"AuditLags", "the log stands still", `hookrouter_audit_lag_seconds{job="r",instance="a"} 0x5 2 62 122 0x30`, 20, firing{7, 9}},
	{"AuditLags", "a slow disk", `hookrouter_audit_lag_seconds{job="r",instance="a"} 0.4x30`, 20, never},
	{"AuditLags", "a moment", `hookrouter_audit_lag_seconds{job="r",instance="a"} 0x5 3 0x30`, 20, never},

	{"AuditAlarm", "until ten minutes after the segment was closed", `
		hookrouter_audit_alarm{job="r",instance="a"} 0x5 1x9 0x40
		hookrouter_audit_alarm{job="r",instance="b"} 0x60`, 40, firing{6, 25}},
	{"AuditAlarm", "routers that sign", `hookrouter_audit_alarm{job="r",instance="a"} 0x60`, 40, never},

	{"DenySpike", "one in twenty, and then one in two", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0+1x120 130+10x60
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+19x120 2290+10x60`, 150, firing{129, -1}},
	{"DenySpike", "none ever, and then one in two", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} _x121 10+10x60
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+20x120 2410+10x60`, 150, firing{130, -1}},
	{"DenySpike", "two in five, as ever", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0+40x180
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+60x180`, 180, never},
	{"DenySpike", "twice the usual", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0+20x120 2440+40x60
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+80x120 9660+60x60`, 180, never},
	{"DenySpike", "a few, where little happens", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0x120 ` + each(2, 60) + `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+1x120 120x60`, 180, never},
	{"DenySpike", "nothing to compare with", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0+50x29
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+50x29`, 29, never},
	{"DenySpike", "quiet nights do not hide it", `
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="deny"} 0+1x60 60x60 70+10x60
		hookrouter_chains_total{job="r",verb="emit",event="tool:pre",action="continue"} 0+19x60 1140x60 1150+10x60`, 170, firing{127, -1}},

	{"Slow", "a tenth takes more than a second", `
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="1"} 0+90x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="2.5"} 0+100x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="+Inf"} 0+100x60`, 30, firing{11, -1}},
	{"Slow", "one in two hundred does", `
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="1"} 0+199x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="+Inf"} 0+200x60`, 30, never},
	{"Slow", "a collect may", `
		hookrouter_chain_duration_seconds_bucket{job="r",verb="collect",event="tool:pre",le="1"} 0x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="collect",event="tool:pre",le="2.5"} 0+9x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="collect",event="tool:pre",le="+Inf"} 0+9x60`, 30, never},
	{"Slow", "for four minutes", `
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="1"} 0x4 0+9x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="2.5"} 0+9x65
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="+Inf"} 0+9x65`, 30, never},
	{"Slow", "nothing happens", `
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="1"} 0x60
		hookrouter_chain_duration_seconds_bucket{job="r",verb="emit",event="tool:pre",le="+Inf"} 9x60`, 30, never},

	{"Refuses", "one each minute", `hookrouter_refused_total{job="r",verb="emit",code="429"} 0+1x60`, 30, firing{6, -1}},
	{"Refuses", "one", `hookrouter_refused_total{job="r",verb="execute",code="503"} 0x5 1x60`, 30, never},
	{"Refuses", "what agents do wrong", `hookrouter_refused_total{job="r",verb="emit",code="400"} 0+1x60`, 30, never},
	{"Refuses", "an operator", `hookrouter_refused_total{job="r",verb="approve",code="503"} 0+1x60`, 30, never},

	{"NotReady", "one of two", `
		hookrouter_ready{job="r",instance="a"} 1x5 0x30
		hookrouter_ready{job="r",instance="b"} 1x60`, 30, firing{7, -1}},
	{"NotReady", "a start", `hookrouter_ready{job="r",instance="a"} 0 1x60`, 30, never},

	{"NoneReady", "none of two", `
		hookrouter_ready{job="r",instance="a"} 1x5 0x60
		hookrouter_ready{job="r",instance="b"} 0x40 1x60`, 60, firing{7, 41}},
	{"NoneReady", "one of two", `
		hookrouter_ready{job="r",instance="a"} 0x60
		hookrouter_ready{job="r",instance="b"} 1x60`, 30, never},
	{"NoneReady", "one of two installations", `
		hookrouter_ready{job="r",instance="a"} 0x60
		hookrouter_ready{job="s",instance="b"} 1x60`, 30, firing{1, -1}},
	{"NoneReady", "a moment", `hookrouter_ready{job="r",instance="a"} 1x5 0 1x60`, 30, never},
	{"NoneReady", "no router is scraped", `up{job="r"} 0x60`, 30, firing{1, -1}},

	{"AgentUngated", "an hour long", `hookrouter_agents_ungated{job="r",instance="a"} 0x4 2x100`, 90, firing{65, -1}},
	{"AgentUngated", "another replica has seen it ask", `
		hookrouter_agents_ungated{job="r",instance="a"} 1x100
		hookrouter_agents_ungated{job="r",instance="b"} 0x100`, 90, never},
	{"AgentUngated", "it asks later", `hookrouter_agents_ungated{job="r",instance="a"} 1x50 0x60`, 90, never},
}

func TestEachAlertFiresOnWhatItIsAbout(t *testing.T) {
	for _, tt := range trials {
		t.Run(tt.alert+"/"+tt.name, func(t *testing.T) {
			var want []firing
			if tt.want != never {
				want = append(want, tt.want)
			}
			if got := evaluate(t, tt.series, tt.minutes)["HookRouter"+tt.alert]; !slices.Equal(got, want) {
				t.Errorf("it fires from and to the minutes %v, want %v", got, want)
			}
		})
	}
}

func TestEachAlertIsTried(t *testing.T) {
	for _, rule := range deployed(t) {
		if rule.Alert == "" {
			continue
		}
		fires, silent := false, false
		for _, tt := range trials {
			if "HookRouter"+tt.alert == rule.Alert {
				fires, silent = fires || tt.want != never, silent || tt.want == never
			}
		}
		if !fires || !silent {
			t.Errorf("%s is not tried both ways: fires %v, silent %v", rule.Alert, fires, silent)
		}
	}
}

// Where Prometheus has no metrics of a router, only the alert about that fires.
func TestNothingElseFiresWithoutMetrics(t *testing.T) {
	var fired []string
	for name := range evaluate(t, `up{job="r"} 1x150`, 150) {
		fired = append(fired, name)
	}
	if !slices.Equal(fired, []string{"HookRouterNoneReady"}) {
		t.Errorf("without metrics these fire: %v", fired)
	}
}
