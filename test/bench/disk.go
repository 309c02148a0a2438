package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// slowDisk is the p50 of an fsync above which chains/s are not judged.
const slowDisk = 500 * time.Microsecond

// disk describes the disk of the servers' files.
type disk struct {
	FileSystem string  `json:"file_system"`
	FsyncP50   float64 `json:"fsync_p50_ms"` // of writing 4 KiB to the end of a file and syncing it
	FsyncP99   float64 `json:"fsync_p99_ms"`
	Syncs      int     `json:"syncs"`
}

func (d *disk) slow() bool { return d.FsyncP50 > float64(slowDisk)/1e6 }

// String returns a description in one line.
func (d *disk) String() string {
	return fmt.Sprintf("files on %s, write and fsync of 4 KiB: p50 %.2f ms, p99 %.2f ms (%d times)", d.FileSystem, d.FsyncP50, d.FsyncP99, d.Syncs)
}

// lookAtDisk measures the disk of the servers' files. It fails if they are in memory, where strict
// audit would appear almost free.
func (b *bench) lookAtDisk() error {
	dir, err := filepath.EvalSymlinks(b.dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return fmt.Errorf("find the directory of the files: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("find the file system of %s: %w", dir, err)
	}
	kind := fileSystem(string(mounts), dir)
	if kind == "tmpfs" || kind == "ramfs" {
		return fmt.Errorf("the audit part needs a disk, and %s is on a %s, where a sync costs nothing: name a directory on a disk with -dir",
			filepath.Dir(dir), kind)
	}
	d := &disk{FileSystem: kind, Syncs: 200}
	took, err := syncs(filepath.Join(dir, "fsync"), d.Syncs)
	if err != nil {
		return fmt.Errorf("measure fsync: %w", err)
	}
	d.FsyncP50, d.FsyncP99 = float64(percentile(took, 0.50))/1e6, float64(percentile(took, 0.99))/1e6
	b.report.Disk = d
	return nil
}

// syncs writes 4 KiB to the end of a new file and syncs it, n times.
func syncs(name string, n int) (took []time.Duration, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	page := make([]byte, 4<<10)
	for i := 0; i < n && err == nil; i++ {
		began := time.Now()
		if _, err = f.Write(page); err == nil {
			err = f.Sync()
		}
		took = append(took, time.Since(began))
	}
	return took, errors.Join(err, f.Close(), os.Remove(name))
}

// fileSystem returns the type of the file system of an absolute path according to the text of
// /proc/self/mountinfo. Of two mounts at the same place, the later one hides the earlier one.
func fileSystem(mountinfo, path string) (kind string) {
	kind = "an unknown file system"
	longest := -1
	for line := range strings.Lines(mountinfo) {
		before, after, found := strings.Cut(line, " - ")
		place, what := strings.Fields(before), strings.Fields(after)
		if !found || len(place) < 5 || len(what) < 1 {
			continue
		}
		mount := strings.TrimSuffix(unescape(place[4]), "/")
		if len(mount) >= longest && (path == mount || strings.HasPrefix(path, mount+"/")) {
			longest, kind = len(mount), what[0]
		}
	}
	return kind
}

// unescape decodes the octal escapes of mountinfo, such as \040 for a blank.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
