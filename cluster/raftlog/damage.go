package raftlog

import (
	"fmt"

	"github.com/hashicorp/raft"
)

// accept makes a snapshot of the state if an operator has accepted that the log's
// tail is missing and the state is ahead of what is left. Raft would otherwise give
// the lost indexes to new entries, which the state would skip as applied.
func (s *Stores) accept(o Options) error {
	if !o.AcceptDamage || o.Applied == nil || o.Rebase == nil || o.Applied() <= s.Mark.Reach.Load() {
		return nil
	}
	if err := o.Rebase(s.Meter, s.Newest); err != nil {
		return fmt.Errorf("make a snapshot of the state, which is ahead of the damaged log: %w", err)
	}
	s.Mark.advance(s.Newest.Index())
	return nil
}

// LastConfiguration returns the newest configuration of the log, or else of the
// newest snapshot, and its index.
func LastConfiguration(logs raft.LogStore, newest *NewestSnapshot) (raft.Configuration, uint64, error) {
	first, last, err := span(logs)
	if err != nil {
		return raft.Configuration{}, 0, err
	}
	for index := last; index >= first && index > 0; index-- {
		var entry raft.Log
		if err := logs.GetLog(index, &entry); err != nil {
			return raft.Configuration{}, 0, err
		}
		if entry.Type == raft.LogConfiguration {
			return raft.DecodeConfiguration(entry.Data), index, nil
		}
	}
	if meta, ok := newest.at(); ok {
		return meta.Configuration, meta.ConfigurationIndex, nil
	}
	return raft.Configuration{}, 0, fmt.Errorf("%w: neither the log nor a snapshot says who votes: restore a backup", ErrDamaged)
}
