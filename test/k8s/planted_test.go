package k8s

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// planted are violations of the production overlay, and what a check says of each.
var planted = []struct {
	what, check, says string
	plant             func(*Set)
}{
	{"a Deployment selects other pods", "selectors", "does not select its own pods", func(s *Set) {
		s.Deployments[0].Spec.Selector.MatchLabels = map[string]string{"app": "x"}
	}},
	{"a Service selects nothing", "selectors", "Service nats does not select", func(s *Set) { s.service("nats").Spec.Selector = map[string]string{"app": "x"} }},
	{"a Service has no selector", "selectors", "Service nats does not select", func(s *Set) { s.service("nats").Spec.Selector = nil }},
	{"a Service names no port of its pods", "selectors", `"clientz"`, func(s *Set) { s.service("nats").Spec.Ports[0].TargetPort = intstr.FromString("clientz") }},
	{"the headless Service has an address", "selectors", "no headless Service", func(s *Set) { s.service("nats-headless").Spec.ClusterIP = "" }},
	{"servers find each other only when ready", "selectors", "no headless Service", func(s *Set) { s.service("nats-headless").Spec.PublishNotReadyAddresses = false }},
	{"a budget selects nothing", "selectors", "PodDisruptionBudget", func(s *Set) { s.Budgets[0].Spec.Selector.MatchLabels["app"] = "x" }},
	{"a budget lets no pod go", "selectors", "lets no pod go", func(s *Set) { zero := intstr.FromInt32(0); s.Budgets[0].Spec.MaxUnavailable = &zero }},
	{"a workload has no budget", "selectors", "has 0 PodDisruptionBudgets", func(s *Set) { s.Budgets = s.Budgets[1:] }},
	{"a claim has a label", "selectors", "has labels on its claim data", func(s *Set) {
		s.StatefulSets[0].Spec.VolumeClaimTemplates[0].Labels = map[string]string{"app": "x"}
	}},
	{"pods do not say what they are part of", "selectors", "part of", func(s *Set) {
		delete(s.Workload("nats").Template.Labels, "app.kubernetes.io/part-of")
	}},
	{"the spread counts other pods", "selectors", "spreads other pods", func(s *Set) {
		s.Workload("nats").Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels = map[string]string{"app": "x"}
	}},
	{"anti-affinity is from other pods", "selectors", "keeps away from other pods", func(s *Set) {
		s.Workload("nats").Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = map[string]string{"app": "x"}
	}},
	{"a policy is for no pod", "selectors", "is for no pod", func(s *Set) { s.policy("nats").Spec.PodSelector.MatchLabels = map[string]string{"app": "x"} }},
	{"a policy names a peer that no pod is", "selectors", "that no pod is", func(s *Set) {
		s.policy("nats").Spec.Ingress[0].From[0].PodSelector.MatchLabels = map[string]string{"app": "x"}
	}},
	{"a policy lets in on a port that is not there", "selectors", "names the port clientz", func(s *Set) {
		s.policy("nats").Spec.Ingress[0].Ports[0].Port = new(intstr.FromString("clientz"))
	}},
	{"a policy lets out to a port that is not there", "selectors", "names the port clientz", func(s *Set) {
		s.policy("hook-worker").Spec.Egress[0].Ports[0].Port = new(intstr.FromString("clientz"))
	}},
	{"a policy lets everybody in", "selectors", "any port or any peer", func(s *Set) { s.policy("nats").Spec.Ingress[0].From = nil }},
	{"a policy lets in on every port", "selectors", "any port", func(s *Set) { s.policy("nats").Spec.Ingress[0].Ports = nil }},

	{"a ConfigMap is not there", "references", "is not there or is empty", func(s *Set) { s.ConfigMaps = nil }},
	{"a Secret is not there", "references", "volume audit-key", func(s *Set) { s.Secrets = nil }},
	{"a Secret has not the key", "references", "no key audit.key", func(s *Set) {
		for _, o := range s.Secrets {
			if o.Name == "hook-router-audit-key" {
				o.Data = map[string][]byte{"key": []byte("x")}
			}
		}
	}},
	{"a variable names another key", "references", "NATS_PASSWORD is the key pass", func(s *Set) {
		variable(s, "hook-worker", "hook-worker", "NATS_PASSWORD").ValueFrom.SecretKeyRef.Key = "pass"
	}},
	{"a variable is made of one that comes later", "references", "not set before it", func(s *Set) {
		env := s.Workload("hook-worker").Container("hook-worker").Env
		env[1], env[2] = env[2], env[1]
	}},
	{"a variable is set twice", "references", "sets GOMEMLIMIT twice", func(s *Set) {
		c := s.Workload("hook-worker").Container("hook-worker")
		c.Env = append(c.Env, c.Env[0])
	}},
	{"a mount names no volume", "references", "mounts a volume none", func(s *Set) { s.Workload("nats").Container("nats").VolumeMounts[0].Name = "none" }},
	{"a volume is mounted by nobody", "references", "nobody mounts", func(s *Set) {
		spec := &s.Workload("nats").Template.Spec
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "idle", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}},
	{"the key is looked for elsewhere", "references", "no file /etc/hook-router/audit/other.key", func(s *Set) {
		variable(s, "hook-router", "hook-router", "HOOK_ROUTER_AUDIT_KEY").Value = "/etc/hook-router/audit/other.key"
	}},
	{"the configuration is looked for elsewhere", "references", "no file /etc/nats/other.conf", func(s *Set) {
		s.Workload("nats").Container("nats").Args = []string{"--config=/etc/nats/other.conf"}
	}},
	{"a URL names no Service", "references", "nats.elsewhere:4222", func(s *Set) {
		variable(s, "hook-worker", "hook-worker", "HOOK_WORKER_NATS_URL").Value = "nats://nats.elsewhere:4222"
	}},
	{"a URL names another port", "references", "nats:4223", func(s *Set) {
		variable(s, "hook-worker", "hook-worker", "HOOK_WORKER_NATS_URL").Value = "nats://nats:4223"
	}},
	{"a URL names a pod that is not there", "references", "nats-3.nats-headless:8222", func(s *Set) {
		variable(s, "hook-router", "hook-router", "HOOK_ROUTER_NATS_MONITOR").Value = "http://nats-3.nats-headless:8222"
	}},

	{"the namespace takes any pod", "restricted", "does not enforce", func(s *Set) { s.Namespaces[0].Labels = nil }},
	{"a token is mounted", "restricted", "token", func(s *Set) { s.Workload("nats").Template.Spec.AutomountServiceAccountToken = nil }},
	{"Services make variables", "restricted", "variables of Services", func(s *Set) { s.Workload("nats").Template.Spec.EnableServiceLinks = new(true) }},
	{"the pod is in the host's network", "restricted", "host's namespaces", func(s *Set) { s.Workload("nats").Template.Spec.HostNetwork = true }},
	{"the pod sees the host's processes", "restricted", "host's namespaces", func(s *Set) { s.Workload("nats").Template.Spec.HostPID = true }},
	{"a directory of the host is mounted", "restricted", "of a kind", func(s *Set) {
		s.Workload("nats").Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
	}},
	{"the pod has no security context", "restricted", "no securityContext", func(s *Set) { s.Workload("nats").Template.Spec.SecurityContext = nil }},
	{"the pod may be root", "restricted", "as root", func(s *Set) { s.Workload("nats").Template.Spec.SecurityContext.RunAsNonRoot = nil }},
	{"the pod is root", "restricted", "as root", func(s *Set) { s.Workload("nats").Template.Spec.SecurityContext.RunAsUser = new(int64(0)) }},
	{"the pod has no seccomp profile", "restricted", "seccomp", func(s *Set) { s.Workload("nats").Template.Spec.SecurityContext.SeccompProfile = nil }},
	{"the pod is unconfined", "restricted", "seccomp", func(s *Set) {
		s.Workload("nats").Template.Spec.SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined
	}},
	{"a container has no security context", "restricted", "setup has no securityContext", func(s *Set) { s.Workload("hook-router").Container("setup").SecurityContext = nil }},
	{"a container may gain privileges", "restricted", "gain privileges", func(s *Set) { nats(s).SecurityContext.AllowPrivilegeEscalation = nil }},
	{"a container is privileged", "restricted", "is privileged", func(s *Set) { nats(s).SecurityContext.Privileged = new(true) }},
	{"a container is another user", "restricted", "overrides", func(s *Set) { nats(s).SecurityContext.RunAsUser = new(int64(0)) }},
	{"a container may write to its image", "restricted", "write to its image", func(s *Set) { nats(s).SecurityContext.ReadOnlyRootFilesystem = nil }},
	{"a container keeps capabilities", "restricted", "has capabilities", func(s *Set) { nats(s).SecurityContext.Capabilities.Drop = nil }},
	{"a container adds a capability", "restricted", "has capabilities", func(s *Set) { nats(s).SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN"} }},
	{"a container takes a port of the host", "restricted", "port of the host", func(s *Set) { nats(s).Ports[0].HostPort = 4222 }},

	{"an image is the latest", "bounds", "names no registry or no version", func(s *Set) { nats(s).Image = "docker.io/library/nats:latest" }},
	{"an image has no tag", "bounds", "names no registry or no version", func(s *Set) { nats(s).Image = "docker.io/library/nats" }},
	{"an image has half a version", "bounds", "names no registry or no version", func(s *Set) { nats(s).Image = "docker.io/library/nats:2.15" }},
	{"an image has no registry", "bounds", "names no registry or no version", func(s *Set) { nats(s).Image = "nats:2.15.2" }},
	{"a container has no limit", "bounds", "is limited to 0", func(s *Set) { delete(nats(s).Resources.Limits, corev1.ResourceMemory) }},
	{"a container requests nothing", "bounds", "requests 0 of cpu", func(s *Set) { delete(nats(s).Resources.Requests, corev1.ResourceCPU) }},
	{"Go may take more memory than the container has", "bounds", "not 80 to 95 %", func(s *Set) {
		nats(s).Resources.Limits[corev1.ResourceMemory] = resource.MustParse("512Mi")
		nats(s).Resources.Requests[corev1.ResourceMemory] = resource.MustParse("512Mi")
	}},
	{"Go is told of no limit", "bounds", "sets no GOMEMLIMIT", func(s *Set) { variable(s, "nats", "nats", "GOMEMLIMIT").Name = "GOMEMLIMITS" }},
	{"a router has no time to drain", "bounds", "needs longer to end", func(s *Set) {
		s.Workload("hook-router").Template.Spec.TerminationGracePeriodSeconds = new(int64(30))
	}},
	{"a router drains longer than it has", "bounds", "needs longer to end", func(s *Set) {
		c := s.Workload("hook-router").Container("hook-router")
		c.Args = append(c.Args, "--drain-timeout=2m")
	}},

	{"a probe names no port", "probes", "on the port web", func(s *Set) { router(s).ReadinessProbe.HTTPGet.Port = intstr.FromString("web") }},
	{"a probe names no page", "probes", "/ready, which it does not serve", func(s *Set) { router(s).ReadinessProbe.HTTPGet.Path = "/ready" }},
	{"a router that is not ready is restarted", "probes", "only not ready", func(s *Set) { router(s).LivenessProbe.HTTPGet.Path = "/readyz" }},
	{"who serves is never asked", "probes", "no readiness probe", func(s *Set) { router(s).ReadinessProbe = nil }},
	{"a probe is a connection", "probes", "not a page", func(s *Set) { router(s).LivenessProbe.HTTPGet = nil }},
	{"Prometheus scrapes another port", "probes", "Prometheus", func(s *Set) {
		s.Workload("hook-router").Template.Annotations["prometheus.io/port"] = "9090"
	}},

	{"a variable has a typing error", "settings", "HOOK_ROUTER_HTTP_LISTN", func(s *Set) {
		variable(s, "hook-router", "hook-router", "HOOK_ROUTER_HTTP_LISTEN").Name = "HOOK_ROUTER_HTTP_LISTN"
	}},
	{"a worker gets a router's variable", "settings", "HOOK_ROUTER_HTTP_LISTEN", func(s *Set) {
		c := s.Workload("hook-worker").Container("hook-worker")
		c.Env = append(c.Env, corev1.EnvVar{Name: "HOOK_ROUTER_HTTP_LISTEN"})
	}},
	{"NATS gets a variable that its configuration does not read", "settings", "OPERATR_PASSWORD", func(s *Set) {
		variable(s, "nats", "nats", "OPERATOR_PASSWORD").Name = "OPERATR_PASSWORD"
	}},
	{"a flag does not exist", "settings", "--jetstream-copies", func(s *Set) { router(s).Args = []string{"--jetstream-copies=3"} }},
	{"the flag of a subcommand does not exist", "settings", "--copies", func(s *Set) { s.Workload("hook-router").Container("setup").Args = []string{"--copies=3"} }},
	{"a subcommand does not exist", "settings", "what does not exist", func(s *Set) {
		s.Workload("hook-router").Container("setup").Command = []string{"/usr/local/bin/hookctl", "audit", "bootstarp"}
	}},
	{"a program is not in the image", "settings", "not in our image", func(s *Set) {
		s.Workload("hook-worker").Container("hook-worker").Command = []string{"/bin/sh"}
	}},

	{"there are two NATS servers", "production", "nats has fewer than 3", func(s *Set) { s.StatefulSets[0].Spec.Replicas = new(int32(2)) }},
	{"there is one router", "production", "hook-router has fewer than 2", func(s *Set) {
		for _, d := range s.Deployments {
			d.Spec.Replicas = nil
		}
	}},
	{"NATS servers share a node", "production", "two pods of nats", func(s *Set) { s.StatefulSets[0].Spec.Template.Spec.Affinity = nil }},
	{"streams have one copy", "production", "not three copies", func(s *Set) { router(s).Args = nil }},
	{"streams are made with one copy", "production", "fewer than three copies", func(s *Set) { s.Workload("hook-router").Container("setup").Args = nil }},
	{"nothing is denied by default", "production", "denies what", func(s *Set) { s.Policies = without(s.Policies, "default-deny") }},
	{"anybody talks to the router", "production", "who talks to hook-router", func(s *Set) { s.Policies = without(s.Policies, "hook-router") }},
	{"Prometheus is not let to workers", "production", "port 8082 of hook-worker", func(s *Set) { s.policy("hook-worker").Spec.Ingress = nil }},
	{"one server's durability is not proven", "monitored", "does not ask nats-2", func(s *Set) {
		v := variable(s, "hook-router", "hook-router", "HOOK_ROUTER_NATS_MONITOR")
		v.Value = v.Value[:strings.LastIndex(v.Value, ",")]
	}},
}

func TestEveryPlantedViolationIsFound(t *testing.T) {
	for _, p := range planted {
		t.Run(p.what, func(t *testing.T) {
			set := load(t, "overlays/prod")
			p.plant(set)
			wrong := checks[p.check](set)
			if !strings.Contains(strings.Join(wrong, "\n"), p.says) {
				t.Errorf("%s says %q, and nothing of %q", p.check, wrong, p.says)
			}
		})
	}
}

func nats(s *Set) *corev1.Container   { return s.Workload("nats").Container("nats") }
func router(s *Set) *corev1.Container { return s.Workload("hook-router").Container("hook-router") }

// variable is one of a container's.
func variable(s *Set, workload, container, name string) *corev1.EnvVar {
	env := s.Workload(workload).Container(container).Env
	for i := range env {
		if env[i].Name == name {
			return &env[i]
		}
	}
	panic("no variable " + name)
}

func (s *Set) policy(name string) *networkingv1.NetworkPolicy {
	for _, p := range s.Policies {
		if p.Name == name {
			return p
		}
	}
	panic("no policy " + name)
}

func without(policies []*networkingv1.NetworkPolicy, name string) (rest []*networkingv1.NetworkPolicy) {
	for _, p := range policies {
		if p.Name != name {
			rest = append(rest, p)
		}
	}
	return rest
}
