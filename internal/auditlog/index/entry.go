package index

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Denied is an id that every message has which holds a denial.
const Denied = "\x00denied"

// partitions is how many keys a block has.
const partitions = 32

// hashOf is where an id belongs, and what stands there for it. It is a cryptographic one,
// since agents choose ids.
func hashOf(id string) (partition int, hash uint32) {
	sum := sha256.Sum256([]byte(id))
	return int(sum[0] % partitions), binary.BigEndian.Uint32(sum[1:])
}

// entrySize is that of an entry: hash, and the message's place behind the first one of
// its block, 32 bits each.
const entrySize = 8

// block is what is known of some messages that follow each other.
type block struct {
	from, to uint64 // sequences; to is 0 where there are none
	ids      int
	parts    [partitions][]uint64 // hash and offset
}

// add takes the ids of a message. Each stands in ids once.
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

// messages is how many messages the block covers.
func (b *block) messages() uint64 {
	if b.to == 0 {
		return 0
	}
	return b.to - b.from + 1
}

// encode writes a partition, sorted.
func (b *block) encode(part int) []byte {
	slices.Sort(b.parts[part])
	body := make([]byte, 0, len(b.parts[part])*entrySize)
	for _, e := range b.parts[part] {
		body = binary.BigEndian.AppendUint64(body, e)
	}
	return body
}

// find returns the sequences that stand for a hash, the newest first.
func find(body []byte, from uint64, hash uint32) (list []uint64) {
	n := len(body) / entrySize
	at := func(i int) uint64 { return binary.BigEndian.Uint64(body[i*entrySize:]) }
	low, high := 0, n
	for low < high {
		if mid := (low + high) / 2; at(mid) < uint64(hash)<<32 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < n && at(low)>>32 == uint64(hash); low++ {
		list = append(list, from+uint64(uint32(at(low))))
	}
	slices.Reverse(list)
	return list
}

// blockKey names a partition of a block.
func blockKey(segment, part int, from, to uint64) string {
	return fmt.Sprintf("%s.%d-%d", partKey(segment, part), from, to)
}

func partKey(segment, part int) string { return fmt.Sprintf("%d.%d", segment, part) }

func headKey(segment int) string { return fmt.Sprintf("head.%d", segment) }

const ownerKey = "owner.lease"
