package audit_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// spot is the place of a random message of parts.
func spot(rnd *rand.Rand, parts []part) int {
	for {
		if i := rnd.IntN(len(parts)); parts[i].body != nil {
			return i
		}
	}
}

// renumber hides what was removed or put in.
func renumber(parts []part) []part {
	seq := int64(0)
	for i := range parts {
		if parts[i].body != nil {
			seq++
			parts[i].seq = seq
		}
	}
	return parts
}

// checkpoints are the places of the checkpoints of parts.
func checkpoints(parts []part) (at []int) {
	for i, p := range parts {
		if p.checkpoint != nil {
			at = append(at, i)
		}
	}
	return at
}

// without is parts with those left out that drop is true for.
func without(parts []part, drop func(i int, p part) bool) (kept []part) {
	for i, p := range parts {
		if !drop(i, p) {
			kept = append(kept, p)
		}
	}
	return kept
}

var tamperings = map[string]struct {
	tamper     func(rnd *rand.Rand, seed uint64, parts []part) []part
	unanchored bool // without a head seen elsewhere it can't be found
}{
	"edit a byte of a record": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		body := bytes.Clone(parts[i].body)
		body[rnd.IntN(len(body))] ^= byte(1 + rnd.IntN(255))
		parts[i].body = body
		return parts
	}},
	"edit a word of a record": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		parts[i].body = bytes.Replace(parts[i].body, []byte("continue"), []byte("deny"), 1)
		return parts
	}},
	"delete a message": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		return slices.Delete(parts, i, i+1)
	}},
	"delete a message and renumber": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		return renumber(slices.Delete(parts, i, i+1))
	}},
	"insert a message": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		forged := part{body: audit.Record{Kind: audit.HookResult, Action: "continue"}.Append(nil)}
		return renumber(slices.Insert(parts, rnd.IntN(len(parts)), forged))
	}},
	"insert a record into a message": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		parts[i].body = audit.Record{Kind: audit.HookResult, Action: "continue"}.Append(bytes.Clone(parts[i].body))
		return parts
	}},
	"swap two messages": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i, j := spot(rnd, parts), spot(rnd, parts)
		for i == j {
			j = spot(rnd, parts)
		}
		parts[i].body, parts[j].body = parts[j].body, parts[i].body
		return parts
	}},
	"duplicate a message": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		return slices.Insert(parts, i, parts[i])
	}},
	"duplicate a message and renumber": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		i := spot(rnd, parts)
		return renumber(slices.Insert(parts, i, parts[i]))
	}},
	"rewrite the log without the key": {tamper: func(_ *rand.Rand, seed uint64, _ []part) []part {
		return makeLog(seed, 40, "forged", mallory.Signer)
	}},
	"rewrite the records and keep the checkpoints": {tamper: func(_ *rand.Rand, seed uint64, parts []part) []part {
		for i, forged := range makeLog(seed, 40, "forged", mallory.Signer) {
			if forged.body != nil {
				parts[i] = forged
			}
		}
		return parts
	}},
	"cut the tail and keep the checkpoints": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		from := spot(rnd, parts)
		return without(parts, func(i int, p part) bool { return i >= from && p.body != nil })
	}},
	"cut the tail with its checkpoints": {unanchored: true, tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		at := checkpoints(parts)
		return parts[:at[rnd.IntN(len(at)-1)]+1]
	}},
	"drop a checkpoint": {tamper: func(rnd *rand.Rand, _ uint64, parts []part) []part {
		at := checkpoints(parts)
		i := at[rnd.IntN(len(at))]
		return slices.Delete(parts, i, i+1)
	}},
	"a fork signed with the router's key": {unanchored: true, tamper: func(_ *rand.Rand, seed uint64, _ []part) []part {
		return makeLog(seed, 40, "forged", router.Signer)
	}},
	"a fork from some message on": {tamper: func(_ *rand.Rand, seed uint64, parts []part) []part {
		at := checkpoints(parts)
		fork := makeLog(seed, 40, "forged", router.Signer)
		return slices.Concat(parts[:at[0]+1], fork[at[0]+1:])
	}},
	"an end that is longer and signed, of a fork": {unanchored: true, tamper: func(_ *rand.Rand, seed uint64, _ []part) []part {
		return makeLog(seed, 60, "forged", router.Signer)
	}},
}

func TestTamperingIsFound(t *testing.T) {
	n := testkit.Volume(t, 2, 20, 200)
	for name, c := range tamperings {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(n) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				parts := makeLog(seed, 40, "fine", router.Signer)
				pin := verify(t, export(t, parts), trusted()).Pin
				head := cosigned(t, parts)
				file := export(t, c.tamper(rnd, seed, parts))

				plain := trusted()
				if got := verify(t, file, plain); got.Verdict.OK() != c.unanchored || c.unanchored && got.Verdict != audit.OKUnanchored {
					t.Fatalf("seed %d, without a head: %v", seed, got)
				}
				pinned := trusted()
				pinned.Pin = pin
				witnessed := trusted()
				witnessed.Heads = [][]byte{head}
				for what, o := range map[string]audit.Options{"pinned": pinned, "witnessed": witnessed} {
					got := verify(t, file, o)
					if got.Verdict.OK() || got.Verdict == "" || got.Reason == "" || got.Pin != nil {
						t.Fatalf("seed %d, %s: %v", seed, what, got)
					}
				}
			}
		})
	}
}

func TestCleanLogsRaiseNoAlarm(t *testing.T) {
	for seed := range uint64(testkit.Volume(t, 30, 100, 1000)) {
		parts := makeLog(seed, 1+int(seed%50), "fine", router.Signer)
		file := export(t, parts)
		got := verify(t, file, trusted())
		if got.Verdict != audit.OKUnanchored {
			t.Fatalf("seed %d: %v", seed, got)
		}
		o := trusted()
		o.Pin = got.Pin
		if got := verify(t, file, o); got.Verdict != audit.OKPinned {
			t.Fatalf("seed %d, pinned: %v", seed, got)
		}
		o.Heads = [][]byte{cosigned(t, parts)}
		if got := verify(t, file, o); got.Verdict != audit.OKWitnessed {
			t.Fatalf("seed %d, witnessed: %v", seed, got)
		}
	}
}
