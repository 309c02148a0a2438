package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mounts is a machine with a disk, and further mounts on it.
const mounts = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
25 22 0:22 / /dev/shm rw - tmpfs tmpfs rw
31 22 8:17 / /srv rw,relatime shared:9 master:1 - xfs /dev/sdb1 rw
32 31 0:40 / /srv/with\040blank rw - tmpfs tmpfs rw
33 22 0:41 / /tmp rw - tmpfs tmpfs rw
34 22 8:33 / /tmp rw - btrfs /dev/sdc1 rw
a line that is none
`

func TestAFileSystemIsThatOfTheNearestMount(t *testing.T) {
	for path, want := range map[string]string{
		"/var/lib":        "ext4",
		"/":               "ext4",
		"/dev/shm":        "tmpfs",
		"/dev/shm/bench":  "tmpfs",
		"/dev/shmem":      "ext4", // a name that begins alike
		"/srv/x":          "xfs",
		"/srv/with blank": "tmpfs",
		"/tmp/bench":      "btrfs", // mounted over another
	} {
		if got := fileSystem(mounts, path); got != want {
			t.Errorf("%s is said to be on %s, want %s", path, got, want)
		}
	}
	if got := fileSystem("", "/tmp"); !strings.Contains(got, "unknown") {
		t.Errorf("no mounts at all give %q", got)
	}
}

func TestATmpfsIsRefused(t *testing.T) {
	const shm = "/dev/shm"
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || fileSystem(string(mounts), shm) != "tmpfs" {
		t.Skip("there is no tmpfs here")
	}
	var out, progress bytes.Buffer
	code, err := run(t.Context(), []string{"-only", "audit", "-short", "-dir", shm}, &out, &progress)
	if code != codeFailed || err == nil || !strings.Contains(err.Error(), "is on a tmpfs") || !strings.Contains(err.Error(), "-dir") {
		t.Errorf("code %d, error %v; want %d, and what to do", code, err, codeFailed)
	}
	left, err := filepath.Glob(shm + "/hookrouter-bench-*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSyncsAreMeasuredAndLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	took, err := syncs(dir+"/file", 3)
	if err != nil || len(took) != 3 {
		t.Fatalf("%v, %v", took, err)
	}
	if _, err := syncs(dir+"/file", 1); err != nil {
		t.Errorf("the file of the first time is still there: %v", err)
	}
	if _, err := syncs(dir+"/nowhere/file", 1); err == nil {
		t.Error("syncs in a directory that is not there")
	}
}

func TestStrictAuditIsComparedRoundByRound(t *testing.T) {
	// The machine was ten times slower in the second round.
	us := func(list ...int) (rounds []*sample) {
		for _, n := range list {
			took := time.Duration(n) * time.Microsecond
			rounds = append(rounds, &sample{took: []time.Duration{took}, elapsed: took})
		}
		return rounds
	}
	p := &pair{name: "here"}
	off, strict, synced := us(100, 1000, 100), us(150, 1500, 155), us(200, 2000, 200)
	added := p.added([][]*sample{off, strict, synced, off, synced}, 1234, "")
	if added.Value != 0.25 || !added.ok() || !strings.Contains(added.Note, "the same 1234 bytes takes the agent 200 us") {
		t.Errorf("added %+v, want a quarter of a synced publish", added)
	}
	if dear := p.added([][]*sample{off, us(310, 3100, 310), synced, off, synced}, 1, ""); dear.ok() {
		t.Errorf("%+v is more than one synced publish, and ok", dear)
	}
	rate := p.rate([][]*sample{off, strict, off}, 12.5, 50e3, "")
	if want := 100.0 / 150; rate.Value != want || !rate.ok() || !strings.Contains(rate.Note, "12.5 chains in a synced message") {
		t.Errorf("rate %+v, want %v", rate, want)
	}
	if slow := p.rate([][]*sample{off, us(200, 2000, 200), off}, 1, 50e3, ""); slow.ok() {
		t.Errorf("%+v is half, and ok", slow)
	}
}

func TestAFigureThatIsNotJudgedSaysWhy(t *testing.T) {
	r := &report{Valid: true, Disk: &disk{FileSystem: "ext4", FsyncP50: 0.81, FsyncP99: 3, Syncs: 200}}
	if !r.Disk.slow() || (&disk{FsyncP50: 0.5}).slow() {
		t.Error("a disk is slow where an fsync takes more than 0.5 ms")
	}
	r.add(figure{Name: "chains/s", Value: 0.3, Unit: "x", Least: 0.6, NotJudged: "slow disk"})
	var out strings.Builder
	if err := r.writeTable(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"files on ext4, write and fsync of 4 KiB: p50 0.81 ms", ">= 0.6", "not judged: slow disk"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &out)
		}
	}
	if code := r.exitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	r.Figures[0].NotJudged = ""
	if code := r.exitCode(); code != codeMissed {
		t.Errorf("exit code %d of a figure that missed, want %d", code, codeMissed)
	}
}

func TestAnArmThatDiffersFromItselfMakesTheRunInvalid(t *testing.T) {
	got := map[float64]int{}
	for _, itself := range []float64{0.94, 0.96, 1.04, 1.06} {
		r := &report{Valid: true}
		r.addBeside(figure{Name: "chains/s", Value: 1, NotJudged: "for comparison"}, 2)
		r.addBeside(figure{Name: "chains/s", Value: 1, Least: 0.6}, itself)
		got[itself] = r.exitCode()
	}
	if diff := cmp.Diff(map[float64]int{0.94: codeInvalid, 0.96: 0, 1.04: 0, 1.06: codeInvalid}, got); diff != "" {
		t.Errorf("exit codes (-want +got):\n%s", diff)
	}
}
