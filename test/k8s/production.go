package k8s

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Production finds what keeps a set from going on when a machine is lost: too few
// pods, pods that may share a node, streams with one copy, servers that nobody
// asks for proof of durability, and pods that anybody may talk to.
func Production(s *Set) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for name, want := range map[string]int32{"nats": 3, "hook-router": 2, "hook-worker": 2} {
		w := s.Workload(name)
		if w == nil || w.Replicas < want {
			say("%s has fewer than %d pods", name, want)
			continue
		}
		affinity := w.Template.Spec.Affinity
		if affinity == nil || affinity.PodAntiAffinity == nil ||
			name != "hook-worker" && len(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
			say("two pods of %s may be on one node", name)
		}
		own := labels.Set(w.Template.Labels)
		if !slices.ContainsFunc(s.Policies, func(p *networkingv1.NetworkPolicy) bool {
			return !empty(&p.Spec.PodSelector) && selector(&p.Spec.PodSelector).Matches(own)
		}) {
			say("no NetworkPolicy says who talks to %s", name)
		}
		if at := w.Template.Annotations; at["prometheus.io/scrape"] == "true" && !s.monitorable(w, at["prometheus.io/port"]) {
			say("no NetworkPolicy lets Prometheus to port %s of %s", at["prometheus.io/port"], name)
		}
	}
	if !slices.ContainsFunc(s.Policies, func(p *networkingv1.NetworkPolicy) bool {
		return empty(&p.Spec.PodSelector) && len(p.Spec.PolicyTypes) == 2 && len(p.Spec.Ingress)+len(p.Spec.Egress) == 0
	}) {
		say("no NetworkPolicy denies what the others do not allow")
	}
	router := s.Workload("hook-router")
	if router == nil {
		return wrong
	}
	if c := router.Container("hook-router"); c == nil || !slices.Contains(c.Args, "--jetstream-replicas=3") {
		say("the streams have not three copies")
	}
	if c := router.Container("setup"); c == nil || !slices.Contains(c.Args, "--replicas=3") {
		say("the streams are made with fewer than three copies")
	}
	return append(wrong, Monitored(s)...)
}

// monitorable says whether Prometheus' namespace is let to a port of the pods.
func (s *Set) monitorable(w *Workload, number string) bool {
	port := w.port(number)
	return port != nil && slices.ContainsFunc(s.Policies, func(p *networkingv1.NetworkPolicy) bool {
		return selector(&p.Spec.PodSelector).Matches(labels.Set(w.Template.Labels)) &&
			slices.ContainsFunc(p.Spec.Ingress, func(in networkingv1.NetworkPolicyIngressRule) bool {
				return slices.ContainsFunc(in.Ports, func(one networkingv1.NetworkPolicyPort) bool {
					return one.Port != nil && (one.Port.String() == port.Name || one.Port.String() == number)
				}) && slices.ContainsFunc(in.From, func(peer networkingv1.NetworkPolicyPeer) bool {
					return peer.NamespaceSelector != nil && peer.NamespaceSelector.MatchLabels["hook-router/monitoring"] == "true"
				})
			})
	})
}

// Monitored finds NATS servers that no router asks whether they sync their writes.
func Monitored(s *Set) (wrong []string) {
	router, nats := s.Workload("hook-router"), s.Workload("nats")
	if router == nil || nats == nil {
		return nil
	}
	asked := s.Env(router, router.Container("hook-router"), 0)["HOOK_ROUTER_NATS_MONITOR"]
	for i := range nats.Replicas {
		if url := fmt.Sprintf("http://nats-%d.nats-headless:8222", i); !slices.Contains(strings.Split(asked, ","), url) {
			wrong = append(wrong, "the router does not ask nats-"+fmt.Sprint(i)+" for proof of its durability")
		}
	}
	return wrong
}
