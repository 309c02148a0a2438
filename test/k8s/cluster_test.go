package k8s

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	corev1 "k8s.io/api/core/v1"
)

// cluster is a namespace without Kubernetes: the NATS servers of a set in this
// process, and what the names in its manifests stand for here.
type cluster struct {
	set     *Set
	servers []*server.Server
	names   []string // old, new, …: addresses and paths
}

// start starts the NATS servers of a set with its own configuration. Addresses and
// places of files are other ones, nothing else.
func start(t *testing.T, s *Set) *cluster {
	t.Helper()
	c := &cluster{set: s}
	w := s.Workload("nats")
	for i := range w.Replicas {
		if w.Replicas > 1 {
			c.names = append(c.names, fmt.Sprintf("nats-%d.nats-headless:6222", i), free(t))
		}
	}
	for i := range int(w.Replicas) {
		for name, value := range s.Env(w, w.Container("nats"), i) {
			t.Setenv(name, c.here(value))
		}
		o, err := NATSOptions(s, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o.Host, o.Port, o.HTTPHost, o.HTTPPort = "127.0.0.1", server.RANDOM_PORT, "127.0.0.1", server.RANDOM_PORT
		o.StoreDir, o.PidFile, o.NoSigs, o.NoLog = t.TempDir(), "", true, true
		if w.Replicas > 1 {
			if _, err := fmt.Sscanf(c.names[2*i+1], "127.0.0.1:%d", &o.Cluster.Port); err != nil {
				t.Fatal(err)
			}
			o.Cluster.Host = "127.0.0.1"
		}
		ns, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		go ns.Start()
		t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
		c.servers = append(c.servers, ns)
	}
	for i, ns := range c.servers {
		if !ns.ReadyForConnections(20 * time.Second) {
			t.Fatal("a NATS server is not ready")
		}
		c.names = append(c.names, fmt.Sprintf("nats-%d.nats-headless:8222", i), ns.MonitorAddr().String())
	}
	c.names = append(c.names, "@nats:4222", "@"+c.servers[0].Addr().String(), "//nats:4222", "//"+c.servers[0].Addr().String())
	c.names = append(c.names, ":8082", "127.0.0.1:0") // the health pages of workers
	return c
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// here is a text of the manifests with what its names stand for.
func (c *cluster) here(text string) string { return strings.NewReplacer(c.names...).Replace(text) }

// mount writes the files of a pod's volumes and remembers where they are.
func (c *cluster) mount(t *testing.T, w *Workload) {
	t.Helper()
	for _, container := range w.Containers() {
		for _, m := range container.VolumeMounts {
			dir := t.TempDir()
			c.names = append(c.names, m.MountPath, dir)
			for _, v := range w.Template.Spec.Volumes {
				files := map[string][]byte{}
				if v.Name == m.Name {
					c.set.contents(v, files)
				}
				for name, text := range files {
					if err := os.WriteFile(filepath.Join(dir, name), text, 0o440); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// contents adds the files of a volume.
func (s *Set) contents(v corev1.Volume, files map[string][]byte) {
	switch {
	case v.ConfigMap != nil && len(v.ConfigMap.Items) == 0:
		for name, text := range s.configMap(v.ConfigMap.Name) {
			files[name] = []byte(text)
		}
	case v.ConfigMap != nil:
		for _, item := range v.ConfigMap.Items {
			files[item.Path] = []byte(s.configMap(v.ConfigMap.Name)[item.Key])
		}
	case v.Secret != nil:
		for _, item := range v.Secret.Items {
			files[item.Path] = s.secret(v.Secret.SecretName)[item.Key]
		}
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			one, _ := part(source)
			s.contents(one, files)
		}
	}
}

// command is what a container runs, with its own settings and nothing else of the
// environment.
func (c *cluster) command(t *testing.T, w *Workload, container string) *exec.Cmd {
	t.Helper()
	of := w.Container(container)
	words := append(append([]string{}, of.Command...), of.Args...)
	if len(of.Command) == 0 {
		words = append([]string{entrypoint}, words...)
	}
	program, ours := strings.CutPrefix(words[0], "/usr/local/bin/")
	if !ours {
		t.Fatalf("%s is not in the image", words[0])
	}
	cmd := exec.Command(filepath.Join(binaries, program), words[1:]...)
	cmd.Env, cmd.Dir = []string{}, t.TempDir()
	for name, value := range c.set.Env(w, of, 0) {
		cmd.Env = append(cmd.Env, name+"="+c.here(value))
	}
	return cmd
}
