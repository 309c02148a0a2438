package crash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// disk is an ext4 image behind a loop device.
type disk struct {
	image, dir string // dir is where it is mounted
	mounted    bool
}

// needDisks skips a test where it can't make disks.
func needDisks(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting an image needs root")
	}
	for _, tool := range []string{"mkfs.ext4", "mount", "umount", "cp", "stat"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	if kind, err := exec.CommandContext(t.Context(), "stat", "-f", "-c", "%T", t.TempDir()).Output(); err != nil || strings.TrimSpace(string(kind)) == "tmpfs" {
		t.Skipf("temporary files are on no disk but on %q: set TMPDIR to a directory on one", strings.TrimSpace(string(kind)))
	}
	try := newImage(t, "8M")
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", try, dir).CombinedOutput(); err != nil {
		t.Skipf("images can't be mounted here: %s", out)
	}
	command(t, "umount", dir)
}

func newImage(t *testing.T, size string) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk.img")
	command(t, "truncate", "-s", size, image)
	command(t, "mkfs.ext4", "-q", "-F", "-b", "4096", image)
	return image
}

// mount mounts an image until the test ends, or it is unmounted.
func mount(t *testing.T, image string) *disk {
	t.Helper()
	d := &disk{image: image, dir: t.TempDir()}
	t.Cleanup(func() { d.unmount(t) })
	command(t, "mount", "-o", "loop", image, d.dir)
	d.mounted = true
	return d
}

// unmount unmounts the disk, and detaches its loop device. Nothing may run on it any
// more.
func (d *disk) unmount(t *testing.T) {
	t.Helper()
	if !d.mounted {
		return
	}
	d.mounted = false
	// Not the test's context: it is over in a cleanup.
	if out, err := exec.CommandContext(context.Background(), "umount", d.dir).CombinedOutput(); err != nil {
		t.Errorf("umount: %v: %s", err, out)
		_ = exec.CommandContext(context.Background(), "umount", "-l", d.dir).Run()
	}
}

// cut is the image as the power cut leaves it.
func (d *disk) cut(t *testing.T) (image string, err error) {
	t.Helper()
	image = filepath.Join(t.TempDir(), "disk.img")
	return image, exec.CommandContext(t.Context(), "cp", "--sparse=always", d.image, image).Run()
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// What the power cut stands on: a copy of the image has what was synced, and nothing
// that was not.
func TestImageHoldsWhatWasSynced(t *testing.T) {
	needDisks(t)
	d := mount(t, newImage(t, "32M"))
	synced, err := os.Create(filepath.Join(d.dir, "synced"))
	if err != nil {
		t.Fatal(err)
	}
	defer synced.Close()
	write := func(f *os.File, text string) {
		t.Helper()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(synced, "on the disk")
	if err := synced.Sync(); err != nil {
		t.Fatal(err)
	}
	write(synced, ", and in the page cache")
	lazy, err := os.Create(filepath.Join(d.dir, "lazy"))
	if err != nil {
		t.Fatal(err)
	}
	defer lazy.Close()
	write(lazy, "in the page cache")
	image, err := d.cut(t)
	if err != nil {
		t.Fatal(err)
	}
	after := mount(t, image)
	text, err := os.ReadFile(filepath.Join(after.dir, "synced"))
	if err != nil || string(text) != "on the disk" {
		t.Errorf("after the cut the synced file holds %q, %v", text, err)
	}
	if text, _ := os.ReadFile(filepath.Join(after.dir, "lazy")); len(text) > 0 {
		t.Errorf("after the cut the other file holds %q: this cuts no power", text)
	}
}
