package agent

import (
	"iter"
	"math/bits"
)

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
