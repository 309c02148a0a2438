// Package grafana checks what stands in deploy/grafana: that each alert fires on what
// it is about, when it should, and on nothing else; that every metric and label that a
// panel or a rule names is one that a running router shows; that the dashboard is one
// that Grafana can draw; and that the runbook has a section for each alert.
//
// Rules are evaluated by Prometheus' own packages, as promtool does. A check is a
// function that returns what is wrong, one sentence each; each has planted violations
// beside it that it must find. There is no Grafana behind it.
//
// It is a module of its own, so that the product does not require Prometheus.
package grafana
