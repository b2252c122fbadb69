package raftlog

import "github.com/hashicorp/raft"

// liveLogs answers for the entries from FirstIndex on only. raft-wal 0.4.2
// returns deleted entries from GetLog until it rotates its tail segment or is
// opened again: DeleteRange raises the first index in the segment's metadata,
// and the tail writer does not consult it. A leader whose store does so
// replicates the whole log, entry by entry, to a follower that needs a
// snapshot, and never installs one.
type liveLogs struct{ raft.LogStore }

// GetLog implements raft.LogStore. It returns raft.ErrLogNotFound for an entry
// that was deleted.
func (s liveLogs) GetLog(index uint64, log *raft.Log) error {
	// The first index only grows while entries are read, so an entry that is
	// deleted between the two calls is returned at most once more, as it could
	// be by a call that began before the deletion.
	first, err := s.FirstIndex()
	if err != nil {
		return err
	}
	if index < first {
		return raft.ErrLogNotFound
	}
	return s.LogStore.GetLog(index, log)
}
