package workload

import (
	"fmt"
	"slices"
	"sync"
)

const (
	// keyCallsMax bounds the calls on one key: what porcupine judges in
	// milliseconds grows into minutes on a key that is never retired.
	keyCallsMax = 2000
	// keyProcessesMax bounds the processes that call one key, for the same
	// reason. One place is kept for the process that makes the final reads.
	keyProcessesMax = 10
)

// Keys hands out the keys of a workload and retires each after so many calls.
// Processes are split into groups which share no key. All methods may be
// called concurrently.
type Keys struct {
	prefix string
	width  int  // keys of a group at any one time
	calls  int  // of one key; at most keyCallsMax
	shared bool // by all processes, since the judge bears that: there is one group

	mu     sync.Mutex
	group  map[int]int    // :: process → its group, by the order in which they came
	groups [][]rotatedKey // :: group → its keys of the current generation
	names  []string       // every key ever handed out
}

type rotatedKey struct {
	name   string
	left   int // calls until it is retired
	doubts int // calls whose outcome is unknown
}

// NewKeys makes a rotation of keys that begin with prefix: width of them at a
// time for each group of processes, each for so many calls.
func NewKeys(prefix string, width, calls int) *Keys {
	return &Keys{prefix: prefix, width: max(width, 1), calls: min(max(calls, 1), keyCallsMax), group: map[int]int{}}
}

// NewSharedKeys makes one that all processes share.
func NewSharedKeys(prefix string, width, calls int) *Keys {
	k := NewKeys(prefix, width, calls)
	k.shared = true
	return k
}

// Pick is a key for the next call of p: a random one of those that its group
// has now. It counts as one call of the key.
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

// doubtsMax is how many unknown calls a key bears before it is retired, and
// doubtCalls how many more calls it gets then, to show what became of them.
// Each unknown call doubles the orders that a judge may have to try.
const (
	doubtsMax  = 6
	doubtCalls = 20
)

// Doubt notes that the outcome of a call on key is unknown.
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

// All is every key that was ever handed out, oldest first.
func (k *Keys) All() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.names)
}
