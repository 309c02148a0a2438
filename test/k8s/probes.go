package k8s

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// pages are what the programs serve for probes and Prometheus, by container. Those
// of hook-router and nats are asked for in a test.
var pages = map[string]map[string]bool{
	"hook-router": {"/healthz": true, "/readyz": true, "/metrics": true},
	"hook-worker": {"/healthz": true, "/readyz": true, "/metrics": true},
	"nats":        {"/healthz": true, "/healthz?js-server-only=true": true, "/healthz?js-enabled-only=true": true},
	"jaeger":      {"/": true},
}

// Probes finds probes of ports and pages that are not there, containers that serve
// and have none, and a restart for what needs none.
func Probes(s *Set) (wrong []string) {
	for _, w := range s.Workloads() {
		for i := range w.Template.Spec.Containers {
			c := &w.Template.Spec.Containers[i]
			say := func(format string, args ...any) {
				wrong = append(wrong, w.Name+": "+c.Name+" "+fmt.Sprintf(format, args...))
			}
			for kind, p := range map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
				switch {
				case p == nil && kind == "readiness" && len(c.Ports) > 0:
					say("has ports and no readiness probe")
				case p == nil:
				case p.HTTPGet == nil:
					say("has a %s probe that is not a page", kind)
				case !hasPort(c, p.HTTPGet.Port.String()):
					say("has a %s probe on the port %s, which is not there", kind, p.HTTPGet.Port.String())
				case !pages[c.Name][p.HTTPGet.Path]:
					say("has a %s probe of %s, which it does not serve", kind, p.HTTPGet.Path)
				case kind == "liveness" && strings.Contains(p.HTTPGet.Path, "readyz"):
					say("is restarted where it is only not ready")
				}
			}
		}
		if at := w.Template.Annotations; at["prometheus.io/scrape"] == "true" {
			if w.port(at["prometheus.io/port"]) == nil || !pages[w.Template.Spec.Containers[0].Name][at["prometheus.io/path"]] {
				wrong = append(wrong, w.Name+": Prometheus is told to scrape what is not there")
			}
		}
	}
	return wrong
}

func hasPort(c *corev1.Container, name string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return true
		}
	}
	return false
}
