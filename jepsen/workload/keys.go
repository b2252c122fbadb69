package workload

import (
	"fmt"
	"slices"
	"sync"
)

const (
	// keyCallsMax bounds the calls on one key. porcupine judges so many calls in
	// milliseconds, but many more take minutes.
	keyCallsMax = 2000
	// keyProcessesMax bounds the processes that call one key, for the same reason. One
	// of them is the process of the final reads.
	keyProcessesMax = 10
)

// Keys hands out the keys of a workload and retires each after a number of calls. It
// divides processes into groups that share no keys. All methods may be called
// concurrently.
type Keys struct {
	prefix string
	width  int  // number of keys of a group at any one time
	calls  int  // calls on one key; at most keyCallsMax
	shared bool // all processes are in one group, because the checker is fast enough

	mu     sync.Mutex
	group  map[int]int    // :: process → its group, in the order of their first calls
	groups [][]rotatedKey // :: group → its current keys
	names  []string       // every key handed out
}

type rotatedKey struct {
	name   string
	left   int // calls until it is retired
	doubts int // calls whose outcome is unknown
}

// NewKeys returns keys that begin with prefix. Each group of processes has width keys
// at a time, each for the given number of calls.
func NewKeys(prefix string, width, calls int) *Keys {
	return &Keys{prefix: prefix, width: max(width, 1), calls: min(max(calls, 1), keyCallsMax), group: map[int]int{}}
}

// NewSharedKeys returns keys that all processes share.
func NewSharedKeys(prefix string, width, calls int) *Keys {
	k := NewKeys(prefix, width, calls)
	k.shared = true
	return k
}

// Pick returns a random one of the current keys of p's group. It counts as one call on
// the key.
func (k *Keys) Pick(p *Process) string {
	at := p.Rand.IntN(k.width)
	k.mu.Lock()
	defer k.mu.Unlock()
	group, known := k.group[p.ID]
	if !known {
		if !k.shared {
			group = len(k.group) / (keyProcessesMax - 1)
		}
		k.group[p.ID] = group
		if group == len(k.groups) {
			k.groups = append(k.groups, make([]rotatedKey, k.width))
		}
	}
	key := &k.groups[group][at]
	if key.left == 0 {
		*key = rotatedKey{name: fmt.Sprintf("%s%d", k.prefix, len(k.names)+1), left: k.calls}
		k.names = append(k.names, key.name)
	}
	key.left--
	return key.name
}

// doubtsMax bounds the unknown calls on a key before it is retired. doubtCalls is how
// many more calls it gets then, to show the outcomes. Each unknown call doubles the
// orders that a checker may have to try.
const (
	doubtsMax  = 6
	doubtCalls = 20
)

// Doubt records that the outcome of a call on key is unknown.
func (k *Keys) Doubt(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, group := range k.groups {
		for i := range group {
			if group[i].name != key {
				continue
			}
			if group[i].doubts++; group[i].doubts >= doubtsMax {
				group[i].left = min(group[i].left, doubtCalls)
			}
			return
		}
	}
}

// All returns every key handed out, oldest first.
func (k *Keys) All() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.names)
}
