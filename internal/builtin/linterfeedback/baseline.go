package linterfeedback

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
)

// What bounds a session's state, which is a value of at most 64 KiB.
const (
	maxFiles = 256
	maxMarks = 32 << 10 // bytes of all files
)

// baseline is what is remembered of a session: the findings that its files have.
type baseline struct {
	Files []seen `json:"files"` // the longest ago first
}

// seen is a file and its findings, each as a mark of four bytes.
type seen struct {
	Path  uint64 `json:"path"` // a hash
	Marks []byte `json:"marks"`
}

func (b *baseline) index(path string) int {
	sum := hash(path)
	return slices.IndexFunc(b.Files, func(s seen) bool { return s.Path == sum })
}

// fresh returns the findings that a file did not have; without a memory of it these
// are all.
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

// remember keeps what a file has, and forgets the files of long ago where that is too
// much.
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

// place is a number that says where a finding is, and not what it is.
var place = regexp.MustCompile(`(^|[\s:(,\[])[0-9]+`)

// marks are the findings without their places. The second of two equal findings is
// another one than the first.
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
