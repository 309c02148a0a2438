package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// wheelOf makes the files of a wheel whose programs are the program of this test.
func wheelOf(t *testing.T, platform string) map[string]packed {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]packed{}
	for _, program := range programs {
		name := build{goos: runtime.GOOS}.exe(program)
		files["hookrouter-1.data/scripts/"+name] = packed{body, 0o755}
	}
	wheel := "Root-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(platform, ".") {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	files["hookrouter-1.dist-info/WHEEL"] = packed{[]byte(wheel), 0o644}
	record := "hookrouter-1.dist-info/RECORD,,\n"
	for name, f := range files {
		sum := sha256.Sum256(f.body)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.body))
	}
	files["hookrouter-1.dist-info/RECORD"] = packed{[]byte(record), 0o644}
	return files
}

func TestAWheelIsForItsPlatform(t *testing.T) {
	const platform = "any_1.any_2"
	here := build{goos: runtime.GOOS, goarch: runtime.GOARCH}
	files := wheelOf(t, platform)
	if err := checkTags(files, platform); err != nil {
		t.Error(err)
	}
	if checkTags(files, "any_1") == nil {
		t.Error("a tag too many is fine")
	}
	if err := checkRecord(files); err != nil {
		t.Error(err)
	}
	if err := checkPrograms(files, here); err != nil {
		t.Error(err)
	}
	if checkPrograms(files, build{goos: here.goos, goarch: "other"}) == nil {
		t.Error("programs of another platform are fine")
	}
	first := "hookrouter-1.data/scripts/" + here.exe(programs[0])
	files[first] = packed{files[first].body, 0o644}
	if checkPrograms(files, here) == nil {
		t.Error("a program that can't be run is fine")
	}
	files[first] = packed{[]byte("changed"), 0o755}
	if checkRecord(files) == nil {
		t.Error("a file that is not what RECORD says is fine")
	}
	delete(files, first)
	if checkPrograms(files, here) == nil || checkRecord(files) == nil {
		t.Error("a program may be missing")
	}
	files = wheelOf(t, platform)
	files["more.py"] = packed{nil, 0o644}
	if checkRecord(files) == nil {
		t.Error("a file that RECORD lacks is fine")
	}
}
