package audit

import (
	"crypto/sha256"
	"errors"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is the Merkle tree of package tlog over a growing list of leaves. It keeps only the roots of
// the full subtrees, at most 63 hashes. The zero Tree is empty.
type Tree struct {
	size int64
	full []tlog.Hash // largest first; one for each bit set in size
}

// TreeOf returns the tree of size leaves with the given roots of full subtrees, as returned by
// [Tree.Subtrees]. Compare its root with a signed one before you trust it.
func TreeOf(size int64, subtrees []tlog.Hash) (Tree, error) {
	if size < 0 || len(subtrees) != bits.OnesCount64(uint64(size)) {
		return Tree{}, errors.New("restore tree: the number of subtrees does not fit the size")
	}
	return Tree{size, slices.Clone(subtrees)}, nil
}

// Append appends a leaf.
func (t *Tree) Append(leaf tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.full) - 1
		leaf = nodeHash(t.full[last], leaf)
		t.full = t.full[:last]
	}
	t.full = append(t.full, leaf)
	t.size++
}

// Size returns the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Root returns the root over all leaves. That of the empty tree is the SHA-256 of no bytes.
func (t *Tree) Root() tlog.Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	root := t.full[len(t.full)-1]
	for i := len(t.full) - 2; i >= 0; i-- {
		root = nodeHash(t.full[i], root)
	}
	return root
}

// Subtrees returns the roots of the full subtrees, largest first. [TreeOf] restores the tree from
// them.
func (t *Tree) Subtrees() []tlog.Hash { return slices.Clone(t.full) }

// nodeHash is [tlog.NodeHash] without its allocation.
func nodeHash(left, right tlog.Hash) tlog.Hash {
	var node [1 + 2*tlog.HashSize]byte
	node[0] = 1
	copy(node[1:], left[:])
	copy(node[1+tlog.HashSize:], right[:])
	return sha256.Sum256(node[:])
}

// proveLeaf returns the proof of [tlog.ProveRecord], given all leaves at once.
func proveLeaf(leaves []tlog.Hash, n int64) tlog.RecordProof {
	size := int64(len(leaves))
	if size <= 1 {
		return tlog.RecordProof{}
	}
	left := int64(1) << (bits.Len64(uint64(size-1)) - 1)
	if n < left {
		return append(proveLeaf(leaves[:left], n), rootOf(leaves[left:]))
	}
	return append(proveLeaf(leaves[left:], n-left), rootOf(leaves[:left]))
}

func rootOf(leaves []tlog.Hash) tlog.Hash {
	var t Tree
	for _, leaf := range leaves {
		t.Append(leaf)
	}
	return t.Root()
}
