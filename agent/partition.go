package agent

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

// Partitions is how many slices the instances' keys are divided into. It is
// part of what is stored, and never changes.
const Partitions = 4096

// Partition is one slice of the instances' keys, of all scopes and managers,
// and who owns it. Epoch numbers the owning: it is never used again, and is new
// at each assignment, to the same node too.
type Partition struct {
	ID          int
	Owner       string // the node's id; "" where nobody owns it
	Incarnation string // of the owner's data directory and process
	Epoch       uint64 // 0 where nobody owns it
	State       PartitionState
	To          string // draining: the next owner
	SinceIndex  uint64 // the log index of its last change
	Since       int64  // …and its time, Unix ms
	Why         string // …and its reason, for people
}

// PartitionState says what is to become of a partition.
type PartitionState string

// The states.
const (
	PartitionFree     PartitionState = "free"     // nobody owns it
	PartitionOwned    PartitionState = "owned"    // its owner keeps its instances
	PartitionDraining PartitionState = "draining" // its owner hibernates its instances, and then releases it
)

// PartitionClaim is the name by which a commit's fence means a partition: it
// applies only while that epoch's owner owns it, and its node lease stands.
func PartitionClaim(n int) string { return partitionClaimPrefix + strconv.Itoa(n) }

// Fence is what a commit carries that is to apply only while this owning
// stands; nil where nobody owns the partition.
func (p Partition) Fence() *Fence {
	if p.Epoch == 0 {
		return nil
	}
	return &Fence{Claim: PartitionClaim(p.ID), Epoch: p.Epoch}
}

// PartitionSet is a set of partitions, by number. The zero value is empty. To
// list the few that are in it costs next to nothing, where a look at each of all
// the partitions is dear to those who do it at every change.
type PartitionSet [Partitions / 64]uint64

// Add puts partition n into the set.
func (s *PartitionSet) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Remove takes partition n out of it.
func (s *PartitionSet) Remove(n int) { s[n/64] &^= 1 << (n % 64) }

// All is what is in the set, in order.
func (s *PartitionSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s[:] {
			for ; word != 0; word &= word - 1 {
				if !yield(64*i + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// HandlerVersion is how a lease names one of its process's Go handlers; the
// version is 0 where any will do.
func HandlerVersion(name string, version uint64) string {
	return name + "@" + strconv.FormatUint(version, 10)
}

// MissingHandlers are those of want that are not among have.
func MissingHandlers(have, want []string) []string {
	var missing []string
	for _, handler := range want {
		if !slices.Contains(have, handler) {
			missing = append(missing, handler)
		}
	}
	return missing
}
