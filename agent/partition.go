package agent

import "strconv"

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
