package linterfeedback

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
)

// Limits of a session's state, which is a value of at most 64 KiB.
const (
	maxFiles = 256
	maxMarks = 32 << 10 // bytes of all files
)

// baseline is the state of a session: the known findings of its files.
type baseline struct {
	Files []seen `json:"files"` // the longest ago first
}

// seen is a file and its findings, each as a hash of four bytes.
type seen struct {
	Path  uint64 `json:"path"` // a hash
	Marks []byte `json:"marks"`
}

func (b *baseline) index(path string) int {
	sum := hash(path)
	return slices.IndexFunc(b.Files, func(s seen) bool { return s.Path == sum })
}

// fresh returns the findings that the file did not have before; all of them if the file is not
// known.
func (b *baseline) fresh(path string, all []finding) []finding {
	i := b.index(path)
	if i < 0 {
		return all
	}
	had := map[uint32]bool{}
	for mark := range slices.Chunk(b.Files[i].Marks, 4) {
		if len(mark) == 4 {
			had[binary.BigEndian.Uint32(mark)] = true
		}
	}
	var fresh []finding
	for j, mark := range marks(all) {
		if !had[mark] {
			fresh = append(fresh, all[j])
		}
	}
	return fresh
}

// remember stores the findings of a file. It forgets the least recently stored files if the state
// gets too large.
func (b *baseline) remember(path string, all []finding) {
	if i := b.index(path); i >= 0 {
		b.Files = slices.Delete(b.Files, i, i+1)
	}
	s := seen{Path: hash(path)}
	for _, mark := range marks(all) {
		s.Marks = binary.BigEndian.AppendUint32(s.Marks, mark)
	}
	b.Files = append(b.Files, s)
	size := 0
	for _, s := range b.Files {
		size += len(s.Marks)
	}
	for size > maxMarks || len(b.Files) > maxFiles {
		size -= len(b.Files[0].Marks)
		b.Files = b.Files[1:]
	}
}

// place matches numbers that say where a finding is, such as line numbers.
var place = regexp.MustCompile(`(^|[\s:(,\[])[0-9]+`)

// marks returns a hash of each finding without its place. The hashes of equal findings differ by
// their count.
func marks(all []finding) []uint32 {
	count := map[uint64]int{}
	list := make([]uint32, len(all))
	for i, f := range all {
		var text bytes.Buffer
		text.WriteString(f.linter)
		text.WriteByte(0)
		text.Write(place.ReplaceAll([]byte(f.text), []byte("$1#")))
		sum := hash(text.String())
		count[sum]++
		list[i] = uint32(hash(text.String() + "\x00" + strconv.Itoa(count[sum])))
	}
	return list
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}
