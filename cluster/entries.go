package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftlog"
)

// ErrCompacted means that the log does not hold an entry any more.
var ErrCompacted = errors.New("the log has been compacted beyond this entry")

// Entry is a committed entry of the log with commits.
type Entry struct {
	Index, Term uint64
	Data        []byte
}

// Entries calls use with the committed entries after an index that this node has applied, in order,
// until use returns false. It returns the index up to which it has read: entries of Raft's own count,
// but use does not see them. The error wraps ErrCompacted if the log lacks the first entry.
func (g *Group) Entries(after uint64, use func(Entry) bool) (uint64, error) {
	for last := g.machine.Applied(); after < last; after++ {
		var entry raft.Log
		err := g.stores.Logs.GetLog(after+1, &entry)
		if errors.Is(err, raft.ErrLogNotFound) || err == nil && entry.Type == raftlog.LogPhantom {
			return after, fmt.Errorf("entry %d: %w", after+1, ErrCompacted)
		}
		if err != nil {
			return after, fmt.Errorf("read entry %d: %w", after+1, err)
		}
		if entry.Type == raft.LogCommand && !use(Entry{Index: entry.Index, Term: entry.Term, Data: entry.Data}) {
			return after + 1, nil
		}
	}
	return after, nil
}
