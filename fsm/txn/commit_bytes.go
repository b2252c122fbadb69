package txn

import (
	"dormouse/agent"
	"dormouse/fsm/kv"
)

// CommitBytes bounds the bytes that a commit writes and reads by agent.CommitRowsBytesMax. The zero value
// has no bound: the log's own work, such as a sweep, has bounds of its own.
type CommitBytes struct {
	Rows   *kv.Overlay
	Before int  // bytes of the entry before the commit
	Reads  bool // bytes that are only read count: see ReadBytesLevel
}

// CountRead counts bytes that an op has read and leaves as they are: they take a replica as long as those
// that it writes. The error is the refusal of a commit that exceeds its bound.
func (b *CommitBytes) CountRead(n int) error {
	if b.Rows == nil || !b.Reads {
		return nil
	}
	b.Rows.Count(n)
	return b.Check()
}

// Check returns an error if the commit has written and read more than agent.CommitRowsBytesMax.
func (b *CommitBytes) Check() error {
	if b.Rows == nil {
		return nil
	}
	if n := b.Rows.Size() - b.Before; n > agent.CommitRowsBytesMax {
		return agent.TooLarge("ops", "commit_rows_bytes_max", n, agent.CommitRowsBytesMax)
	}
	return nil
}
