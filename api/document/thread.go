package document

import (
	"dormouse/agent"
)

var threadOps = map[string]func() wireOp{
	"delete_thread":  func() wireOp { return new(deleteThreadOp) },
	"compact_thread": func() wireOp { return new(compactThreadOp) },
	"fork_thread":    func() wireOp { return new(forkThreadOp) },
}

// resultThread is the result of an append, a hibernation, a compaction or a fork in a
// commit: the thread without entries, and where the entries were stored.
type resultThread struct {
	Thread
	Entries []EntryStamp `json:"entries,omitempty"`
}

func resultThreadOf(r *agent.ThreadResult) resultThread {
	return resultThread{Thread: ThreadOf(r.Thread), Entries: ThreadStampOf(r).Entries}
}

type deleteThreadOp struct {
	opName
	Thread        string `json:"thread"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
	SealMS        uint64 `json:"seal_ms,omitempty"`
}

func (o *deleteThreadOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteThread{Thread: o.Thread, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

type compactThreadOp struct {
	opName
	Thread string `json:"thread"`
	CompactBody
}

func (o *compactThreadOp) op() (agent.Op, error) { return o.ToOp(o.Thread), nil }

type forkThreadOp struct {
	opName
	Thread string `json:"thread"`
	ForkBody
}

func (o *forkThreadOp) op() (agent.Op, error) { return o.ToOp(o.Thread), nil }

// Thread is a thread without its entries.
type Thread struct {
	ID          string      `json:"id"`
	Incarnation uint64      `json:"incarnation"`
	Rev         uint64      `json:"rev" doc:"The number of entries ever appended in this incarnation"`
	Head        string      `json:"head" doc:"The hash chain over them, in hex"`
	Floor       uint64      `json:"floor" doc:"The first seq that is still stored"`
	CreatedAt   int64       `json:"created_at"`
	UpdatedAt   int64       `json:"updated_at"`
	Metadata    JSON        `json:"metadata,omitzero" doc:"Not in the result of a write, except of a fork: read the thread"`
	Stats       threadStats `json:"stats"`
	Summary     JSON        `json:"summary,omitzero" doc:"Stored by compaction at the floor"`
	ForkedFrom  *forkPoint  `json:"forked_from,omitempty"`
	ExpiresAt   int64       `json:"expires_at,omitzero"`
}

type threadStats struct {
	EntryCount uint64 `json:"entry_count" doc:"Equal to rev"`
}

// forkPoint is where a fork was made from its parent.
type forkPoint struct {
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Rev         uint64 `json:"rev"`
}

// ThreadOf returns the document of t.
func ThreadOf(t agent.Thread) Thread {
	out := Thread{
		ID: t.ID, Incarnation: t.Incarnation, Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: JSON(t.Metadata),
		Stats: threadStats{EntryCount: t.Rev}, Summary: JSON(t.Summary), ExpiresAt: t.ExpiresAt,
	}
	if from := t.ForkedFrom; from != nil {
		out.ForkedFrom = &forkPoint{ID: from.Thread, Incarnation: from.Incarnation, Rev: from.Rev}
	}
	return out
}

// ThreadStamp is the result of an append.
type ThreadStamp struct {
	ID          string       `json:"id"`
	Incarnation uint64       `json:"incarnation"`
	Rev         uint64       `json:"rev"`
	Head        string       `json:"head"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	Entries     []EntryStamp `json:"entries" nullable:"false" doc:"One for each entry sent, in order, also for entries that were already stored"`
}

// ThreadStampOf returns the document of r.
func ThreadStampOf(r *agent.ThreadResult) ThreadStamp {
	stamps := make([]EntryStamp, len(r.Entries))
	for i, e := range r.Entries {
		stamps[i] = EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At, Skipped: e.Skipped}
	}
	return ThreadStamp{
		ID: r.Thread.ID, Incarnation: r.Thread.Incarnation, Rev: r.Thread.Rev, Head: r.Thread.Head.String(),
		CreatedAt: r.Thread.CreatedAt, UpdatedAt: r.Thread.UpdatedAt, Entries: stamps,
	}
}

// NewThreadBody is a thread with a generated id.
type NewThreadBody struct {
	Metadata JSON   `json:"metadata,omitempty"`
	Entries  Drafts `json:"entries,omitempty"`
}

// CompactBody removes the entries below a seq.
type CompactBody struct {
	BeforeSeq     uint64 `json:"before_seq"`
	Summary       JSON   `json:"summary,omitempty" doc:"An entry payload kept at the floor"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *CompactBody) ToOp(thread string) *agent.CompactThread {
	return &agent.CompactThread{Thread: thread, BeforeSeq: b.BeforeSeq, Summary: agent.JSON(b.Summary), IfIncarnation: b.IfIncarnation}
}

// Compacted is the result of a compaction.
type Compacted struct {
	Rev   uint64 `json:"rev"`
	Head  string `json:"head"`
	Floor uint64 `json:"floor"`
}

// CompactedOf returns the document of t.
func CompactedOf(t agent.Thread) Compacted {
	return Compacted{Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor}
}

// ForkBody creates a thread that shares the first entries of another.
type ForkBody struct {
	ID            string  `json:"id" doc:"Of the new thread"`
	AtRev         *uint64 `json:"at_rev,omitempty" doc:"Share the entries below this rev; all if absent"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *ForkBody) ToOp(thread string) *agent.ForkThread {
	return &agent.ForkThread{Thread: thread, NewThread: b.ID, AtRev: b.AtRev, IfIncarnation: b.IfIncarnation}
}

// Verified is the result of a verification.
type Verified struct {
	OK   bool   `json:"ok"`
	Rev  uint64 `json:"rev"`
	Head string `json:"head" doc:"Recomputed"`
	Why  string `json:"why,omitzero" doc:"If it is not ok"`
}

// VerifiedOf returns the document of v.
func VerifiedOf(v *agent.Verified) Verified {
	return Verified{OK: v.OK, Rev: v.Rev, Head: v.Head.String(), Why: v.Why}
}
