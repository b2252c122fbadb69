package thread

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Hibernate extends the journal to the entries that the caller has. Overlapping entries must be
// equal, by content or by the chain: a journal of the same length with other entries is another
// history (P-8, P-9).
func Hibernate(c *txn.Tx, op *agent.HibernateThread) (agent.OpResult, error) {
	if op.FromSeq > op.Rev || op.Rev-op.FromSeq != uint64(len(op.Entries)) {
		return nil, agent.Invalid("rev", "rev = %d must be from_seq + the number of entries", op.Rev)
	}
	t, err := Load(c, op.Thread)
	if err != nil {
		return nil, err
	}
	if err := c.CheckWritable(kv.KindThreadTombstone, op.Thread, op.IfIncarnation, t.GetIncarnation()); err != nil {
		return nil, err
	}
	switch rev := t.GetRev(); {
	case rev > op.Rev:
		e := conflict(op.Thread, t, fmt.Sprintf("the caller knows %d entries only", op.Rev))
		e.Code = agent.CodeRevRegression
		return nil, e
	case op.FromSeq > rev:
		return nil, conflict(op.Thread, t, fmt.Sprintf("the caller takes it to hold %d entries", op.FromSeq))
	}
	if t == nil {
		if t, err = newThread(c, op.Thread); err != nil {
			return nil, err
		}
	}
	overlap := op.Entries[:t.Rev-op.FromSeq]
	stamps, err := overlapOf(c, t, op.FromSeq, overlap)
	if err != nil {
		return nil, err
	}
	renewThread(c, t, op.Metadata)
	more, err := extendThread(c, t, op.Entries[len(overlap):], refuseExisting)
	if err != nil {
		return nil, err
	}
	return appendedResult(c, t, append(stamps, more...))
}

// overlapOf compares drafts with the journal's entries from a seq on.
func overlapOf(c *txn.Tx, t *logpb.ThreadMeta, from uint64, drafts []agent.Draft) ([]agent.EntryStamp, error) {
	var stamps []agent.EntryStamp
	if from < t.Floor && len(drafts) > 0 {
		below := drafts[:min(t.Floor-from, uint64(len(drafts)))]
		var err error
		if stamps, err = overlapBelow(t, from, below); err != nil {
			return nil, err
		}
		from, drafts = t.Floor, drafts[len(below):]
	}
	j := journalOf(c, t)
	for i, draft := range drafts {
		seq := from + uint64(i)
		e, err := j.entry(seq)
		if err != nil {
			return nil, err
		}
		if !draft.SameContent(e) {
			return nil, anotherHistory(t, seq)
		}
		stamps = append(stamps, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	return stamps, nil
}

// overlapBelow compares drafts with compacted entries, by the chain: this needs all of them,
// complete.
func overlapBelow(t *logpb.ThreadMeta, from uint64, drafts []agent.Draft) ([]agent.EntryStamp, error) {
	if from != 0 {
		return nil, compacted(t, from)
	}
	var head agent.Head
	stamps := make([]agent.EntryStamp, len(drafts))
	for i, draft := range drafts {
		if draft.ID == "" || draft.At == nil {
			return nil, compacted(t, uint64(i))
		}
		e := draft.Entry(0, uint64(i), 0)
		head = head.After(&e)
		stamps[i] = agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At}
	}
	if string(head[:]) != string(t.FloorHead) {
		return nil, anotherHistory(t, 0)
	}
	return stamps, nil
}

func anotherHistory(t *logpb.ThreadMeta, seq uint64) *agent.Error {
	e := conflict(t.Id, t, fmt.Sprintf("its entry %d is not the caller's", seq))
	e.Seq = seq
	return e
}
