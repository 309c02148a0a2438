package k8s

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// dependent is a variable's value in another's.
var dependent = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// References finds names of ConfigMaps, Secrets, their keys, volumes, variables,
// files and hosts that are not there.
func References(s *Set) (wrong []string) {
	for _, w := range s.Workloads() {
		say := func(format string, args ...any) {
			wrong = append(wrong, w.Name+": "+fmt.Sprintf(format, args...))
		}
		volumes := map[string][]string{} // by name: the files in it, nil: anything
		for _, claim := range w.Claims {
			volumes[claim.Name] = nil
		}
		used := map[string]bool{}
		for _, v := range w.Template.Spec.Volumes {
			files, missing := s.files(v)
			volumes[v.Name] = files
			for _, m := range missing {
				say("volume %s: %s", v.Name, m)
			}
		}
		for _, c := range w.Containers() {
			mounts := map[string]string{} // by path: the volume
			for _, m := range c.VolumeMounts {
				if _, known := volumes[m.Name]; !known {
					say("%s mounts a volume %s that is not there", c.Name, m.Name)
				}
				mounts[m.MountPath], used[m.Name] = m.Name, true
			}
			known := map[string]bool{}
			for _, v := range c.Env {
				if known[v.Name] {
					say("%s sets %s twice", c.Name, v.Name)
				}
				for _, m := range dependent.FindAllStringSubmatch(v.Value, -1) {
					if !known[m[1]] {
						say("%s: %s is made of $(%s), which is not set before it", c.Name, v.Name, m[1])
					}
				}
				known[v.Name] = true
				if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
					if ref := v.ValueFrom.SecretKeyRef; len(s.secret(ref.Name)[ref.Key]) == 0 {
						say("%s: %s is the key %s of a Secret %s, and there is none", c.Name, v.Name, ref.Key, ref.Name)
					}
				}
			}
			for _, text := range settings(c) {
				for _, host := range s.unknownHosts(text) {
					say("%s: no Service and port are %s", c.Name, host)
				}
				if file := strings.TrimPrefix(text, "--config="); strings.HasPrefix(file, "/etc/") {
					files, mounted := volumes[mounts[path.Dir(file)]]
					if !mounted || !slices.Contains(files, path.Base(file)) {
						say("%s: no file %s is mounted", c.Name, file)
					}
				}
			}
		}
		for name := range volumes {
			if !used[name] {
				say("nobody mounts the volume %s", name)
			}
		}
	}
	return wrong
}

// files of a volume, and what of its sources is missing. nil files: it may hold
// anything.
func (s *Set) files(v corev1.Volume) (files, missing []string) {
	keys := map[string]bool{}
	var items []corev1.KeyToPath
	switch {
	case v.ConfigMap != nil:
		for key := range s.configMap(v.ConfigMap.Name) {
			keys[key] = true
		}
		items = v.ConfigMap.Items
	case v.Secret != nil:
		for key, value := range s.secret(v.Secret.SecretName) {
			keys[key] = len(value) > 0
		}
		items = v.Secret.Items
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			one, optional := part(source)
			has, lacks := s.files(one)
			if len(lacks) == 0 || !optional {
				files, missing = append(files, has...), append(missing, lacks...)
			}
		}
		return files, missing
	default:
		return nil, nil
	}
	if len(keys) == 0 {
		return nil, []string{"its ConfigMap or Secret is not there or is empty"}
	}
	for key := range keys {
		if len(items) == 0 {
			files = append(files, key)
		}
	}
	for _, item := range items {
		if !keys[item.Key] {
			missing = append(missing, "no key "+item.Key)
		}
		files = append(files, item.Path)
	}
	return files, missing
}

// part is a part of a projected volume as a volume of its own.
func part(p corev1.VolumeProjection) (v corev1.Volume, optional bool) {
	switch {
	case p.ConfigMap != nil:
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: p.ConfigMap.LocalObjectReference, Items: p.ConfigMap.Items}
		optional = p.ConfigMap.Optional != nil && *p.ConfigMap.Optional
	case p.Secret != nil:
		v.Secret = &corev1.SecretVolumeSource{SecretName: p.Secret.Name, Items: p.Secret.Items}
		optional = p.Secret.Optional != nil && *p.Secret.Optional
	}
	return v, optional
}

// settings are the texts that a container's program gets.
func settings(c *corev1.Container) []string {
	texts := append(append([]string{}, c.Command...), c.Args...)
	for _, v := range c.Env {
		texts = append(texts, v.Value)
	}
	return texts
}

// unknownHosts are the host:port of URLs in a text that are no Service with such
// a port, nor a pod of a headless one, nor the pod itself.
func (s *Set) unknownHosts(text string) (unknown []string) {
	for part := range strings.SplitSeq(text, ",") {
		if !strings.Contains(part, "://") {
			continue
		}
		u, err := url.Parse(dependent.ReplaceAllString(part, "x"))
		if err != nil {
			unknown = append(unknown, part)
			continue
		}
		if u.Hostname() != "127.0.0.1" && !s.reachable(u.Hostname(), u.Port()) {
			unknown = append(unknown, u.Host)
		}
	}
	return unknown
}

func (s *Set) reachable(host, port string) bool {
	pod, name, ofPod := strings.Cut(host, ".")
	if !ofPod {
		name = host
	}
	o := s.service(name)
	if o == nil || (o.Spec.ClusterIP == "None") != ofPod {
		return false
	}
	if ofPod && !s.hasPod(pod, name) {
		return false
	}
	for _, p := range o.Spec.Ports {
		if fmt.Sprint(p.Port) == port {
			return true
		}
	}
	return false
}

func (s *Set) hasPod(pod, service string) bool {
	for _, o := range s.StatefulSets {
		for i := range count(o.Spec.Replicas) {
			if o.Spec.ServiceName == service && pod == fmt.Sprintf("%s-%d", o.Name, i) {
				return true
			}
		}
	}
	return false
}

func (s *Set) service(name string) *corev1.Service {
	for _, o := range s.Services {
		if o.Name == name {
			return o
		}
	}
	return nil
}
