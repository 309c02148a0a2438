package k8s

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Selectors finds what selects no pod, or not the pods of its own, and ports that
// no container has.
func Selectors(s *Set) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, w := range s.Workloads() {
		own := labels.Set(w.Template.Labels)
		selects := func(l *metav1.LabelSelector) bool { return !empty(l) && selector(l).Matches(own) }
		if !selects(w.Selector) {
			say("%s does not select its own pods", w.Name)
		}
		for _, c := range w.Template.Spec.TopologySpreadConstraints {
			if !selects(c.LabelSelector) {
				say("%s spreads other pods than its own over %s", w.Name, c.TopologyKey)
			}
		}
		if a := w.Template.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				if !selects(t.LabelSelector) {
					say("%s keeps away from other pods than its own", w.Name)
				}
			}
			for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
				if !selects(t.PodAffinityTerm.LabelSelector) {
					say("%s keeps away from other pods than its own", w.Name)
				}
			}
		}
		for _, claim := range w.Claims { // it can't be changed later, and versions of kustomize differ here
			if len(claim.Labels) > 0 {
				say("%s has labels on its claim %s", w.Name, claim.Name)
			}
		}
		if w.Template.Labels["app.kubernetes.io/part-of"] != "hook-router" {
			say("the pods of %s have no label that says what they are part of", w.Name)
		}
		if len(s.budgetsOf(w)) != 1 {
			say("%s has %d PodDisruptionBudgets, want one", w.Name, len(s.budgetsOf(w)))
		}
	}
	for _, b := range s.Budgets {
		if empty(b.Spec.Selector) || len(s.matching(selector(b.Spec.Selector))) != 1 {
			say("PodDisruptionBudget %s does not select the pods of one workload", b.Name)
		}
		// One that lets no pod go blocks whoever drains a node.
		if b.Spec.MaxUnavailable == nil || b.Spec.MaxUnavailable.IntValue() < 1 {
			say("PodDisruptionBudget %s lets no pod go", b.Name)
		}
	}
	for _, o := range s.Services {
		of := s.matching(labels.SelectorFromSet(o.Spec.Selector))
		if len(o.Spec.Selector) == 0 || len(of) != 1 {
			say("Service %s does not select the pods of one workload", o.Name)
			continue
		}
		for _, p := range o.Spec.Ports {
			if p.TargetPort.Type != intstr.String || of[0].port(p.TargetPort.StrVal) == nil {
				say("Service %s sends %s to %q, which %s does not have", o.Name, p.Name, p.TargetPort.String(), of[0].Name)
			}
		}
	}
	for _, o := range s.StatefulSets {
		if h := s.service(o.Spec.ServiceName); h == nil || h.Spec.ClusterIP != "None" || !h.Spec.PublishNotReadyAddresses {
			say("StatefulSet %s has no headless Service %q that names pods before they are ready", o.Name, o.Spec.ServiceName)
		}
	}
	return append(wrong, policySelectors(s)...)
}

func policySelectors(s *Set) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, p := range s.Policies {
		of := s.matching(selector(&p.Spec.PodSelector))
		if len(of) == 0 {
			say("NetworkPolicy %s is for no pod", p.Name)
		}
		peers := func(way string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, to []Workload) {
			for _, peer := range peers {
				here := peer.NamespaceSelector == nil && peer.PodSelector != nil
				if here && (empty(peer.PodSelector) || len(s.matching(selector(peer.PodSelector))) == 0) {
					say("NetworkPolicy %s names a peer in %s that no pod is", p.Name, way)
				}
				if way == "egress" && here {
					to = append(to, s.matching(selector(peer.PodSelector))...)
				}
			}
			if len(ports) == 0 || len(peers) == 0 {
				say("NetworkPolicy %s has a rule in %s for any port or any peer", p.Name, way)
			}
			for _, port := range ports {
				if port.Port == nil {
					say("NetworkPolicy %s has a rule in %s for any port", p.Name, way)
					continue
				}
				for _, w := range to {
					if w.port(port.Port.String()) == nil {
						say("NetworkPolicy %s names the port %s in %s, which %s does not have", p.Name, port.Port, way, w.Name)
					}
				}
			}
		}
		for _, rule := range p.Spec.Ingress {
			peers("ingress", rule.From, rule.Ports, of)
		}
		for _, rule := range p.Spec.Egress {
			peers("egress", rule.To, rule.Ports, nil)
		}
	}
	return wrong
}

// budgetsOf are the names of those that count a workload's pods.
func (s *Set) budgetsOf(w Workload) (names []string) {
	for _, b := range s.Budgets {
		if selector(b.Spec.Selector).Matches(labels.Set(w.Template.Labels)) {
			names = append(names, b.Name)
		}
	}
	return names
}

// selector is nothing where it is wrong or missing.
func selector(l *metav1.LabelSelector) labels.Selector {
	if s, err := metav1.LabelSelectorAsSelector(l); err == nil {
		return s
	}
	return labels.Nothing()
}

func empty(l *metav1.LabelSelector) bool {
	return l == nil || len(l.MatchLabels)+len(l.MatchExpressions) == 0
}
