package index

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

// Denied is an id under which all messages with a denial are indexed.
const Denied = "\x00denied"

// partitions is the number of keys of a block.
const partitions = 32

// hashOf returns the partition and the hash of an id. The hash is cryptographic, since agents
// choose ids.
func hashOf(id string) (partition int, hash uint32) {
	sum := sha256.Sum256([]byte(id))
	return int(sum[0] % partitions), binary.BigEndian.Uint32(sum[1:])
}

// entrySize is the size of an entry: a hash and the message's offset in its block, 32 bits each.
const entrySize = 8

// block indexes a run of messages.
type block struct {
	from, to uint64 // sequences; to is 0 if the block is empty
	ids      int
	parts    [partitions][]uint64 // hash and offset
}

// add indexes the ids of a message, which must be distinct.
func (b *block) add(sequence uint64, ids []string) {
	if b.to == 0 {
		b.from = sequence
	}
	b.to = sequence
	for _, id := range ids {
		part, hash := hashOf(id)
		b.parts[part] = append(b.parts[part], uint64(hash)<<32|(sequence-b.from))
		b.ids++
	}
}

// messages returns the number of messages in the block.
func (b *block) messages() uint64 {
	if b.to == 0 {
		return 0
	}
	return b.to - b.from + 1
}

// encode returns a partition, sorted and encoded.
func (b *block) encode(part int) []byte {
	slices.Sort(b.parts[part])
	body := make([]byte, 0, len(b.parts[part])*entrySize)
	for _, e := range b.parts[part] {
		body = binary.BigEndian.AppendUint64(body, e)
	}
	return body
}

// find returns the sequences of a hash, newest first.
func find(body []byte, from uint64, hash uint32) (list []uint64) {
	n := len(body) / entrySize
	at := func(i int) uint64 { return binary.BigEndian.Uint64(body[i*entrySize:]) }
	first := sort.Search(n, func(i int) bool { return at(i) >= uint64(hash)<<32 })
	for i := first; i < n && at(i)>>32 == uint64(hash); i++ {
		list = append(list, from+uint64(uint32(at(i))))
	}
	slices.Reverse(list)
	return list
}

// blockKey returns the key of a block's partition.
func blockKey(segment, part int, from, to uint64) string {
	return fmt.Sprintf("%s.%d-%d", partKey(segment, part), from, to)
}

func partKey(segment, part int) string { return fmt.Sprintf("%d.%d", segment, part) }

func headKey(segment int) string { return fmt.Sprintf("head.%d", segment) }

const ownerKey = "owner.lease"
