package k8s

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Workload is what makes pods: a Deployment or a StatefulSet.
type Workload struct {
	Name     string
	Replicas int32
	Selector *metav1.LabelSelector
	Template *corev1.PodTemplateSpec
	Claims   []corev1.PersistentVolumeClaim
}

// Workloads are those of the set; what they point to is the set's own.
func (s *Set) Workloads() []Workload {
	var all []Workload
	for _, d := range s.Deployments {
		all = append(all, Workload{Name: d.Name, Replicas: count(d.Spec.Replicas), Selector: d.Spec.Selector, Template: &d.Spec.Template})
	}
	for _, d := range s.StatefulSets {
		all = append(all, Workload{d.Name, count(d.Spec.Replicas), d.Spec.Selector, &d.Spec.Template, d.Spec.VolumeClaimTemplates})
	}
	return all
}

// Workload is the one of a name, nil where there is none.
func (s *Set) Workload(name string) *Workload {
	for _, w := range s.Workloads() {
		if w.Name == name {
			return &w
		}
	}
	return nil
}

func count(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// Containers are all of a pod, those that run before the others first.
func (w Workload) Containers() []*corev1.Container {
	var all []*corev1.Container
	for i := range w.Template.Spec.InitContainers {
		all = append(all, &w.Template.Spec.InitContainers[i])
	}
	for i := range w.Template.Spec.Containers {
		all = append(all, &w.Template.Spec.Containers[i])
	}
	return all
}

// Container is the one of a name, nil where there is none.
func (w Workload) Container(name string) *corev1.Container {
	for _, c := range w.Containers() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// matching are the workloads whose pods a selector selects.
func (s *Set) matching(selector labels.Selector) []Workload {
	var all []Workload
	for _, w := range s.Workloads() {
		if selector.Matches(labels.Set(w.Template.Labels)) {
			all = append(all, w)
		}
	}
	return all
}

// port finds a container port of a pod by its name or number.
func (w Workload) port(nameOrNumber string) *corev1.ContainerPort {
	for _, c := range w.Template.Spec.Containers {
		for i, p := range c.Ports {
			if p.Name == nameOrNumber || fmt.Sprint(p.ContainerPort) == nameOrNumber {
				return &c.Ports[i]
			}
		}
	}
	return nil
}

// mount is where a volume is mounted; "" for nowhere.
func (w Workload) mount(volume string) string {
	for _, c := range w.Containers() {
		for _, m := range c.VolumeMounts {
			if m.Name == volume {
				return m.MountPath
			}
		}
	}
	return ""
}

// Env is what a container's variables are in the pod with a number: Secrets are
// looked up, and $(NAME) is replaced as the kubelet does.
func (s *Set) Env(w *Workload, c *corev1.Container, pod int) map[string]string {
	env := map[string]string{}
	for _, v := range c.Env {
		value := v.Value
		for name, known := range env {
			value = strings.ReplaceAll(value, "$("+name+")", known)
		}
		switch from := v.ValueFrom; {
		case from == nil:
		case from.SecretKeyRef != nil:
			value = string(s.secret(from.SecretKeyRef.Name)[from.SecretKeyRef.Key])
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
			value = fmt.Sprintf("%s-%d", w.Name, pod)
		}
		env[v.Name] = value
	}
	return env
}

func (s *Set) secret(name string) map[string][]byte {
	for _, o := range s.Secrets {
		if o.Name == name {
			return o.Data
		}
	}
	return nil
}

func (s *Set) configMap(name string) map[string]string {
	for _, o := range s.ConfigMaps {
		if o.Name == name {
			return o.Data
		}
	}
	return nil
}
