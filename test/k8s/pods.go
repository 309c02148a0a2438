package k8s

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Restricted finds what the restricted Pod Security Standard forbids, and what we
// ask for besides: a root file system that is read-only, no token of the cluster's
// API, no variables that the cluster makes of Services.
func Restricted(s *Set) (wrong []string) {
	for _, n := range s.Namespaces {
		if n.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
			wrong = append(wrong, n.Name+": the namespace does not enforce the restricted standard")
		}
	}
	for _, w := range s.Workloads() {
		say := func(what string) { wrong = append(wrong, w.Name+": "+what) }
		pod := w.Template.Spec
		if !is(pod.AutomountServiceAccountToken, false) {
			say("the pod gets a token of the cluster's API")
		}
		if !is(pod.EnableServiceLinks, false) {
			say("the pod gets variables of Services")
		}
		if pod.HostNetwork || pod.HostPID || pod.HostIPC {
			say("the pod is in the host's namespaces")
		}
		for _, v := range pod.Volumes {
			if v.ConfigMap == nil && v.Secret == nil && v.EmptyDir == nil && !ours(v.Projected) {
				say("the volume " + v.Name + " is of a kind that we do not use")
			}
		}
		if o := pod.SecurityContext; o == nil {
			say("the pod has no securityContext")
		} else {
			if !is(o.RunAsNonRoot, true) || o.RunAsUser == nil || *o.RunAsUser == 0 || o.RunAsGroup == nil || *o.RunAsGroup == 0 {
				say("the pod may run as root")
			}
			if o.SeccompProfile == nil || o.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				say("the pod has no seccomp profile RuntimeDefault")
			}
			if len(o.Sysctls) > 0 {
				say("the pod sets sysctls")
			}
		}
		for _, c := range w.Containers() {
			for _, what := range restricted(c) {
				say(c.Name + " " + what)
			}
		}
	}
	return wrong
}

// ours reports whether a volume projects ConfigMaps and Secrets only: no token.
func ours(p *corev1.ProjectedVolumeSource) bool {
	return p != nil && !slices.ContainsFunc(p.Sources, func(v corev1.VolumeProjection) bool { return v.ConfigMap == nil && v.Secret == nil })
}

func restricted(c *corev1.Container) (wrong []string) {
	o := c.SecurityContext
	if o == nil {
		return []string{"has no securityContext"}
	}
	if !is(o.AllowPrivilegeEscalation, false) {
		wrong = append(wrong, "may gain privileges")
	}
	if o.Privileged != nil && *o.Privileged || o.ProcMount != nil {
		wrong = append(wrong, "is privileged")
	}
	if o.RunAsNonRoot != nil || o.RunAsUser != nil || o.SeccompProfile != nil {
		wrong = append(wrong, "overrides what the pod says of its user or of seccomp")
	}
	if !is(o.ReadOnlyRootFilesystem, true) {
		wrong = append(wrong, "may write to its image")
	}
	if o.Capabilities == nil || !slices.Equal(o.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(o.Capabilities.Add) > 0 {
		wrong = append(wrong, "has capabilities")
	}
	for _, p := range c.Ports {
		if p.HostPort != 0 {
			wrong = append(wrong, "takes a port of the host")
		}
	}
	return wrong
}

func is(b *bool, want bool) bool { return b != nil && *b == want }

// versioned is a tag that says a version, or a digest.
var versioned = regexp.MustCompile(`^[a-z0-9.-]+\.[a-z]+/[a-z0-9./-]+(:v?\d+\.\d+\.\d+[a-z0-9.-]*|@sha256:[0-9a-f]{64})$`)

// Bounds finds images that may change, containers without limits, and pods that
// are killed before they have answered what they took.
func Bounds(s *Set) (wrong []string) {
	for _, w := range s.Workloads() {
		for _, c := range w.Containers() {
			say := func(format string, args ...any) {
				wrong = append(wrong, w.Name+": "+c.Name+" "+fmt.Sprintf(format, args...))
			}
			if !versioned.MatchString(c.Image) {
				say("runs the image %s, which names no registry or no version", c.Image)
			}
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
				if request.IsZero() || limit.IsZero() || request.Cmp(limit) > 0 {
					say("requests %s of %s and is limited to %s", &request, name, &limit)
				}
			}
			limit := c.Resources.Limits[corev1.ResourceMemory]
			if soft, ok := memoryLimit(c); !ok && !isInit(w, c) {
				say("sets no GOMEMLIMIT")
			} else if ok && (soft.Value()*100 < limit.Value()*80 || soft.Value()*100 > limit.Value()*95) {
				say("has a GOMEMLIMIT of %s at a limit of %s: not 80 to 95 %%", &soft, &limit)
			}
			if grace := w.Template.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second <= drain(c) {
				say("needs longer to end than its pod is given")
			}
		}
	}
	return wrong
}

func isInit(w Workload, c *corev1.Container) bool {
	return slices.ContainsFunc(w.Template.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name })
}

// memoryLimit is a container's GOMEMLIMIT.
func memoryLimit(c *corev1.Container) (resource.Quantity, bool) {
	for _, v := range c.Env {
		if v.Name == "GOMEMLIMIT" {
			q, err := resource.ParseQuantity(strings.TrimSuffix(v.Value, "B"))
			return q, err == nil
		}
	}
	return resource.Quantity{}, false
}

// drain is how long a container may take to end: --drain-timeout of a router, and
// its default else, which is nats.go's for a worker too.
func drain(c *corev1.Container) time.Duration {
	for _, v := range c.Env {
		if d, err := time.ParseDuration(v.Value); err == nil && v.Name == "HOOK_ROUTER_DRAIN_TIMEOUT" {
			return d
		}
	}
	for _, a := range c.Args {
		if d, err := time.ParseDuration(strings.TrimPrefix(a, "--drain-timeout=")); err == nil {
			return d
		}
	}
	return 30 * time.Second
}
