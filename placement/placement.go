// Package placement says which node is to own which partition of the
// instances' keys.
//
// It is pure: the same members and the same table give the same answer on every
// node. A partition ranks the nodes by highest random weight (rendezvous
// hashing), in proportion to their weights; a node takes at most 1.10 of its
// fair share, so that a partition may have to go to its second choice. What is
// owned stays where it is unless its owner is gone, or the balance asks for a
// move: a node that joins gets its fair share and nothing else moves; of a node
// that goes, what it owned moves and nothing else.
//
// It decides nothing: the log does, by epochs and leases (package fsm).
package placement

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Partitions is how many slices the keys are divided into; agent.Partitions.
const Partitions = 4096

// WeightDefault is the weight of a node that has none of its own.
const WeightDefault = 100

// slack is how much more, or less, than its fair share a node may own before
// anything is moved for it.
const slack = 0.10

// Partition is the partition of an instance's key, from 0 to Partitions-1. It
// never changes: stored state depends on it.
//
// A key of the form at/{manager}/{key}/{name}, each part percent-encoded, is in
// the partition of that manager's key, whoever keeps it; of one that is of that
// form itself, in the partition that it names, and so on.
func Partition(scope, manager, key string) int {
	for {
		named, at, ok := home(key)
		if !ok {
			break
		}
		manager, key = named, at // shorter each time
	}
	d := xxhash.New()
	_, _ = d.WriteString(scope) // a digest takes everything
	_, _ = d.Write(separator)
	_, _ = d.WriteString(manager)
	_, _ = d.Write(separator)
	_, _ = d.WriteString(key)
	return int(d.Sum64() % Partitions)
}

// home is whose partition a key says that it is in; false where it does not.
func home(key string) (manager, at string, ok bool) {
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

// Node is who may own partitions.
type Node struct {
	Name   string
	Zone   string // where it stands, for people; one owner a partition leaves a zone nothing to decide
	Weight int    // its share of the whole; 0 means WeightDefault
	Closed bool   // keeps what it has, and is given nothing more
}

func (n Node) weight() float64 {
	if n.Weight <= 0 {
		return WeightDefault
	}
	return float64(n.Weight)
}

// score is how much a partition is drawn to a node: an exponential variate of
// the pair, which makes the greatest of several fall to each node in proportion
// to its weight.
func (n Node) score(partition int) float64 {
	var room [80]byte
	b := append(room[:0], n.Name...)
	b = append(b, 0, byte(partition>>8), byte(partition))
	u := (float64(xxhash.Sum64(b)>>11) + 0.5) / (1 << 53) // 0 < u < 1
	return n.weight() / -math.Log(u)
}

// inOrder is the nodes by name, each once.
func inOrder(nodes []Node) []Node {
	nodes = slices.Clone(nodes)
	slices.SortStableFunc(nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(nodes, func(a, b Node) bool { return a.Name == b.Name })
}
