package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file in an archive.
type entry struct {
	name string
	mode os.FileMode
	body []byte
}

// archive writes the archive for one platform: a zip for Windows, a tar.gz for the others.
func (r *release) archive(b build, completions map[string]string) (string, error) {
	name := fmt.Sprintf("hookrouter_%s_%s_%s", r.version, b.goos, b.goarch)
	var entries []entry
	for _, program := range programs {
		body, err := os.ReadFile(b.exe(program))
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{path.Join(name, filepath.Base(b.exe(program))), 0o755, body})
	}
	for _, paper := range papers {
		body, err := os.ReadFile(filepath.Join(r.root, paper))
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{path.Join(name, paper), 0o644, body})
	}
	for _, script := range slices.Sorted(maps.Keys(completions)) {
		entries = append(entries, entry{path.Join(name, script), 0o644, []byte(completions[script])})
	}
	write, file := tarGz, filepath.Join(r.out, name+".tar.gz")
	if b.goos == "windows" {
		write, file = zipped, filepath.Join(r.out, name+".zip")
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	if err := write(f, r.date, entries); err != nil {
		_ = f.Close()
		return "", fmt.Errorf("write %s: %w", file, err)
	}
	return file, f.Close()
}

func tarGz(w io.Writer, date time.Time, entries []entry) error {
	packed := gzip.NewWriter(w)
	out := tar.NewWriter(packed)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.body)), ModTime: date, Format: tar.FormatPAX}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if _, err := out.Write(e.body); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func zipped(w io.Writer, date time.Time, entries []entry) error {
	out := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date}
		header.SetMode(e.mode)
		body, err := out.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := body.Write(e.body); err != nil {
			return err
		}
	}
	return out.Close()
}

// sum writes SHA256SUMS in the format of sha256sum -c.
func (r *release) sum(stdout io.Writer) error {
	files, err := filepath.Glob(filepath.Join(r.out, "hookrouter_*"))
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(body)
		fmt.Fprintf(&lines, "%s  %s\n", hex.EncodeToString(digest[:]), filepath.Base(file))
	}
	fmt.Fprint(stdout, lines.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
