package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// checkWheel checks that the wheel for a platform has the right tags, that its RECORD matches its
// files, and that its programs were built for that platform.
func (r *release) checkWheel(b build) error {
	platform := wheelPlatforms[b.goos+"/"+b.goarch]
	found, err := filepath.Glob(filepath.Join(r.out, "hookrouter-*-py3-none-"+platform+".whl"))
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("%d wheels for %s, want one: %v", len(found), platform, found)
	}
	files, err := unzip(found[0])
	if err == nil {
		err = errors.Join(checkTags(files, platform), checkRecord(files), checkPrograms(files, b))
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", filepath.Base(found[0]), err)
	}
	return nil
}

// packed is a file of a wheel.
type packed struct {
	body []byte
	mode uint32 // permission bits
}

func unzip(file string) (map[string]packed, error) {
	archive, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	files := map[string]packed{}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		}
		files[f.Name] = packed{body, uint32(f.Mode().Perm())}
	}
	return files, nil
}

// infoFile returns the content of a file in the .dist-info directory.
func infoFile(files map[string]packed, name string) string {
	for file, f := range files {
		if path.Base(file) == name && strings.HasSuffix(path.Dir(file), ".dist-info") {
			return string(f.body)
		}
	}
	return ""
}

func checkTags(files map[string]packed, platform string) error {
	text := infoFile(files, "WHEEL")
	got := []string{}
	for line := range strings.Lines(text) {
		if tag, ok := strings.CutPrefix(strings.TrimSpace(line), "Tag: "); ok {
			got = append(got, tag)
		}
	}
	want := []string{}
	for tag := range strings.SplitSeq(platform, ".") {
		want = append(want, "py3-none-"+tag)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !strings.Contains(text, "Root-Is-Purelib: false") {
		return fmt.Errorf("its tags are %v, want %v, in:\n%s", got, want, text)
	}
	return nil
}

// checkRecord checks that RECORD has exactly one matching line for each file.
func checkRecord(files map[string]packed) error {
	lines, err := csv.NewReader(strings.NewReader(infoFile(files, "RECORD"))).ReadAll()
	if err != nil {
		return fmt.Errorf("read RECORD: %w", err)
	}
	left := maps.Clone(files)
	for _, line := range lines {
		f, there := left[line[0]]
		delete(left, line[0])
		sum := sha256.Sum256(f.body)
		same := line[1] == "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) && line[2] == strconv.Itoa(len(f.body))
		if !there || (!same && path.Base(line[0]) != "RECORD") {
			return fmt.Errorf("RECORD says %v, which the file is not", line)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("RECORD lacks %v", slices.Sorted(maps.Keys(left)))
	}
	return nil
}

// checkPrograms checks that the scripts are exactly the programs, built for the platform.
func checkPrograms(files map[string]packed, b build) error {
	scripts := 0
	for file, f := range files {
		if path.Base(path.Dir(file)) != "scripts" {
			continue
		}
		scripts++
		built, err := buildinfo.Read(bytes.NewReader(f.body))
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		settings := map[string]string{}
		for _, s := range built.Settings {
			settings[s.Key] = s.Value
		}
		program := strings.TrimSuffix(path.Base(file), ".exe")
		known := slices.Contains(programs, program) && path.Base(file) == filepath.Base(b.exe(program))
		if !known || f.mode&0o111 != 0o111 || settings["GOOS"] != b.goos || settings["GOARCH"] != b.goarch {
			return fmt.Errorf("%s (mode %o) is for %s/%s, or none of the programs", file, f.mode, settings["GOOS"], settings["GOARCH"])
		}
	}
	if scripts != len(programs) {
		return fmt.Errorf("it has %d programs, want %d", scripts, len(programs))
	}
	return nil
}
