package thread

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
)

// A fork reads shared entries from the thread to which they were appended, so a fork has the same
// cost for any length of the thread. Each thread whose rows it reads keeps a pin for it. Rows are
// removed when their thread and all pins on it have been removed.

// Fork runs fork_thread.
func Fork(c *txn.Tx, op *agent.ForkThread) (agent.OpResult, error) {
	if err := agent.ValidKey("new_thread", op.NewThread); err != nil {
		return nil, err
	}
	t, err := presentThread(c, op.Thread, op.IfIncarnation)
	if err != nil {
		return nil, err
	}
	if err := CheckVacant(c, op.NewThread); err != nil {
		return nil, err
	}
	at := t.Rev
	if op.AtRev != nil && !seededbug.Is(seededbug.ForkIgnoresRev) {
		at = *op.AtRev
	}
	fork, err := forkAt(c, t, op.NewThread, at)
	if err != nil {
		return nil, err
	}
	thread, err := Store(c, fork)
	if err != nil {
		return nil, err
	}
	thread.Metadata = fork.Metadata // which the fork stores again, and counts
	return &agent.ThreadResult{Thread: thread}, nil
}

// CheckVacant returns an error if a thread has the id, or the id is sealed.
func CheckVacant(c *txn.Tx, id string) error {
	there, err := Load(c, id)
	if err != nil {
		return err
	}
	if there != nil {
		e := agent.Errorf(agent.CodeAlreadyExists, "there is a thread %q already", id)
		e.Rev, e.Head, e.Incarnation = there.Rev, headOf(there), there.Incarnation
		return e
	}
	return c.CheckWritable(kv.KindThreadTombstone, id, 0, 0)
}

// presentThread returns a thread that must exist.
func presentThread(c *txn.Tx, id string, ifIncarnation uint64) (*logpb.ThreadMeta, error) {
	t, err := Load(c, id)
	if err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindThreadTombstone, id, ifIncarnation, t.GetIncarnation()); err != nil {
		return nil, err
	}
	if t == nil {
		return nil, agent.Errorf(agent.CodeNotFound, "there is no thread %q", id)
	}
	return t, nil
}

// forkAt creates a thread from t's entries below at, and pins their rows.
func forkAt(c *txn.Tx, t *logpb.ThreadMeta, id string, at uint64) (*logpb.ThreadMeta, error) {
	switch {
	case at > t.Rev:
		return nil, conflict(t.Id, t, fmt.Sprintf("it has not come to rev %d", at))
	case at < t.Floor:
		return nil, compacted(t, at)
	}
	head, err := HeadAt(c, t, at)
	if err != nil {
		return nil, err
	}
	segments := sharedSegments(t, at)
	if len(segments) > agent.ForkSegmentsMax {
		return nil, agent.TooLarge("thread", "fork_segments_max", len(segments), agent.ForkSegmentsMax)
	}
	fork, err := newThread(c, id)
	if err != nil {
		return nil, err
	}
	fork.Rev, fork.Head = at, head
	fork.Floor, fork.FloorHead = t.Floor, t.FloorHead
	fork.UpdatedAt = c.Progress.Wall
	setMetadata(c, fork, t.Metadata)
	fork.ChosenIds = t.ChosenIds
	fork.ForkedFrom = &logpb.ForkPoint{Thread: t.Id, Incarnation: t.Incarnation, Rev: at}
	fork.Segments = segments
	for _, s := range segments {
		if s.Thread != t.Id && seededbug.Is(seededbug.ForkOfForkUnpinned) {
			continue
		}
		c.Rows.Set(kv.ForkPinKey(c.Scope, s.Thread, s.Incarnation, fork.Id, fork.Incarnation), []byte(kv.EncodeNumber(s.To)))
	}
	return fork, copySummary(c, t, fork)
}

// sharedSegments returns where the entries of t from its floor up to at are stored.
func sharedSegments(t *logpb.ThreadMeta, at uint64) []*logpb.Segment {
	var shared []*logpb.Segment
	own := append(append([]*logpb.Segment(nil), t.Segments...),
		&logpb.Segment{Thread: t.Id, Incarnation: t.Incarnation, To: at})
	from := t.Floor
	for _, s := range own {
		to := min(s.To, at)
		if from < to {
			shared = append(shared, &logpb.Segment{Thread: s.Thread, Incarnation: s.Incarnation, To: to})
			from = to
		}
	}
	return shared
}

func copySummary(c *txn.Tx, from, to *logpb.ThreadMeta) error {
	summary, err := c.Rows.Get(kv.IncarnationKey(kv.KindSummary, c.Scope, from.Id, from.Incarnation))
	if err != nil || summary == nil {
		return err
	}
	return setSummary(c, to, summary)
}

// unpinSegments removes a fork's pins of some of its segments, and the rows that are not needed any
// more.
func unpinSegments(c *txn.Tx, fork *logpb.ThreadMeta, segments []*logpb.Segment) error {
	for _, s := range segments {
		c.Rows.Remove(kv.ForkPinKey(c.Scope, s.Thread, s.Incarnation, fork.Id, fork.Incarnation))
		if err := reclaim(c, s.Thread, s.Incarnation, 0); err != nil {
			return err
		}
	}
	return nil
}

func pinnedByForks(c *txn.Tx, id string, incarnation uint64) (bool, error) {
	prefix := kv.IncarnationKey(kv.KindForkPin, c.Scope, id, incarnation)
	keys, _, err := c.Rows.Keys(prefix, kv.After(prefix), 1)
	return len(keys) > 0, err
}
