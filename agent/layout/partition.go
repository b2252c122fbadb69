package layout

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"

	"dormouse/agent"
)

// Partitions is the number of partitions of the instances' keys. It is part of the
// stored format and never changes.
const Partitions = 4096

// Partition is one partition of the instances' keys, over all scopes and managers, and
// its owner. Epoch numbers the ownerships: it is never reused, and each assignment has
// a new one, also to the same node.
type Partition struct {
	ID          int
	Owner       string // the node's id; "" if it has no owner
	Incarnation string // of the owner's data directory and process
	Epoch       uint64 // 0 if it has no owner
	State       PartitionState
	To          string // draining: the next owner
	SinceIndex  uint64 // the log index of its last change
	Since       int64  // …and its time, Unix ms
	Why         string // …and its reason, for people
}

// PartitionState is the state of a partition.
type PartitionState string

// The states.
const (
	PartitionFree     PartitionState = "free"     // it has no owner
	PartitionOwned    PartitionState = "owned"    // its owner runs its instances
	PartitionDraining PartitionState = "draining" // its owner hibernates its instances, then releases it
)

// PartitionClaim returns the name of a partition in a commit's fence. The commit
// applies only while the owner of that epoch owns the partition and has a valid node
// lease.
func PartitionClaim(n int) string { return agent.PartitionClaimPrefix + strconv.Itoa(n) }

// Fence returns the fence of a commit that applies only during this ownership; nil if
// the partition has no owner.
func (p Partition) Fence() *agent.Fence {
	if p.Epoch == 0 {
		return nil
	}
	return &agent.Fence{Claim: PartitionClaim(p.ID), Epoch: p.Epoch}
}

// PartitionSet is a set of partition numbers. The zero value is empty. Listing a few
// members is cheap, compared with checking all partitions on every change.
type PartitionSet [Partitions / 64]uint64

// Add adds partition n.
func (s *PartitionSet) Add(n int) { s[n/64] |= 1 << (n % 64) }

// Remove removes partition n.
func (s *PartitionSet) Remove(n int) { s[n/64] &^= 1 << (n % 64) }

// All yields the members in ascending order.
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

// HandlerVersion returns how a lease names a Go handler of its process. Version 0
// means any version.
func HandlerVersion(name string, version uint64) string {
	return name + "@" + strconv.FormatUint(version, 10)
}

// MissingHandlers returns the elements of want that are not in have.
func MissingHandlers(have, want []string) []string {
	var missing []string
	for _, handler := range want {
		if !slices.Contains(have, handler) {
			missing = append(missing, handler)
		}
	}
	return missing
}
