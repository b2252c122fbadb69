// Package placement computes which node owns which partition of the instances' keys.
//
// It is pure: the same members and the same table give the same result on every node. A partition
// ranks the nodes by highest random weight (rendezvous hashing), in proportion to their weights. A
// node owns at most 1.10 of its fair share, unless pins give it more, so a partition may go to its
// second choice. A partition moves only if its owner is gone, for balance, or to where it is pinned. A node that joins gets its fair share, and
// nothing else moves. When a node leaves, only its partitions move.
//
// The result is only a plan: the log assigns owners, with epochs and leases (package fsm).
package placement

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Partitions is the number of partitions of the keys; layout.Partitions.
const Partitions = 4096

// WeightDefault is the weight of a node without its own.
const WeightDefault = 100

// slack is how far the number of a node's partitions may differ from its fair share before
// partitions are moved.
const slack = 0.10

// Partition returns the partition of an instance's key, from 0 to Partitions-1. The function never
// changes: stored state depends on it.
//
// A key of the form at/{manager}/{key}/{name}, each part percent-encoded, is in the partition of
// that manager's key. If that key has the same form, the rule applies again.
func Partition(scope, manager, key string) int {
	for {
		named, at, ok := parentKey(key)
		if !ok {
			break
		}
		manager, key = named, at // shorter each time
	}
	d := xxhash.New()
	_, _ = d.WriteString(scope) // a digest accepts all input
	_, _ = d.Write(separator)
	_, _ = d.WriteString(manager)
	_, _ = d.Write(separator)
	_, _ = d.WriteString(key)
	return int(d.Sum64() % Partitions)
}

// parentKey returns the key that a key of the form at/{manager}/{key}/{name} names. ok is false for any
// other key.
func parentKey(key string) (manager, at string, ok bool) {
	rest, ok := strings.CutPrefix(key, "at/")
	if !ok {
		return "", "", false
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 3 {
		return "", "", false
	}
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil || plain == "" {
			return "", "", false
		}
		parts[i] = plain
	}
	return parts[0], parts[1], true
}

var separator = []byte{0}

// Node is a possible owner of partitions.
type Node struct {
	Name   string
	Zone   string // its location, for people; it has no effect, since a partition has one owner
	Weight int    // its relative share; 0 means WeightDefault
	Closed bool   // keeps its partitions, and gets no more
}

func (n Node) weight() float64 {
	if n.Weight <= 0 {
		return WeightDefault
	}
	return float64(n.Weight)
}

// score returns a node's score for a partition: an exponential variate of the pair. So each node
// has the greatest score in proportion to its weight.
func (n Node) score(partition int) float64 {
	var room [80]byte
	b := append(room[:0], n.Name...)
	b = append(b, 0, byte(partition>>8), byte(partition))
	u := (float64(xxhash.Sum64(b)>>11) + 0.5) / (1 << 53) // 0 < u < 1
	return n.weight() / -math.Log(u)
}

// inOrder returns the nodes by name, each once.
func inOrder(nodes []Node) []Node {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(nodes, func(a, b Node) bool { return a.Name == b.Name })
}
