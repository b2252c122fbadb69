package document

import (
	"dormouse/agent"
)

// HibernateBody is an agent as it goes to sleep.
type HibernateBody struct {
	State      JSON           `json:"state" doc:"What the agent needs to go on; __thread__ is dropped"`
	Version    uint64         `json:"version,omitempty" doc:"The caller's schema version; 1 where absent"`
	Thread     *hibernateTail `json:"thread,omitempty"`
	Lifecycle  string         `json:"lifecycle,omitempty" enum:"completion,cancel,error,interrupt,title_generated,shutdown,idle,manual,fork" doc:"Why it is saved"`
	Metadata   JSON           `json:"metadata,omitempty"`
	IfRevision *uint64        `json:"if_revision,omitempty" doc:"Apply only at this revision of the checkpoint; 0 means that there must be none"`
}

// ToOps returns the write of the checkpoint, and that of the journal, which comes
// before it; nil where the body has none.
func (b *HibernateBody) ToOps(key string) (*agent.PutCheckpoint, *agent.HibernateThread, error) {
	if b.State == nil {
		return nil, nil, noState()
	}
	put := &agent.PutCheckpoint{
		Key: key, Version: b.Version, State: agent.JSON(b.State), Lifecycle: b.Lifecycle, Metadata: agent.JSON(b.Metadata), IfRevision: b.IfRevision,
	}
	tail := b.Thread
	if tail == nil {
		return put, nil, nil
	}
	journal, err := tail.op(tail.ID)
	if err != nil {
		return nil, nil, err
	}
	put.Thread = &agent.Pointer{Thread: tail.ID, Rev: journal.Rev}
	return put, journal, nil
}

// hibernateTail is the journal's end as the agent knows it.
type hibernateTail struct {
	ID string `json:"id"`
	journalTail
}

// journalTail is the end of a journal: the entries from a seq on.
type journalTail struct {
	Rev      *uint64 `json:"rev,omitempty" doc:"The caller's rev; from_seq and the number of entries where absent"`
	FromSeq  *uint64 `json:"from_seq,omitempty" doc:"The seq of the first of the entries; rev less their number where absent"`
	Entries  Drafts  `json:"entries,omitempty" doc:"What overlaps the journal must equal it; the rest is appended"`
	Metadata JSON    `json:"metadata,omitempty" doc:"Honoured while the journal's rev is 0"`
}

// bounds fills in the one of rev and from_seq that the other gives.
func (t *journalTail) bounds() (rev, from uint64, err error) {
	count := uint64(len(t.Entries))
	switch {
	case t.FromSeq != nil && t.Rev != nil:
		rev, from = *t.Rev, *t.FromSeq
	case t.FromSeq != nil:
		rev, from = *t.FromSeq+count, *t.FromSeq
	case t.Rev != nil && *t.Rev >= count:
		rev, from = *t.Rev, *t.Rev-count
	case t.Rev != nil:
		rev = *t.Rev // and from 0, which does not fit
	default:
		rev = count
	}
	if from+count != rev || from > rev {
		return 0, 0, agent.Invalid("thread.rev", "rev is %d, but %d entries from seq %d end at %d", rev, count, from, from+count)
	}
	return rev, from, nil
}

func (t *journalTail) op(thread string) (*agent.HibernateThread, error) {
	rev, from, err := t.bounds()
	return &agent.HibernateThread{
		Thread: thread, Rev: rev, FromSeq: from, Entries: t.Entries.ToAgent(), Metadata: agent.JSON(t.Metadata),
	}, err
}

// Hibernated answers a hibernation.
type Hibernated struct {
	CheckpointStamp
	Journal *ThreadStamp `json:"journal,omitempty" doc:"The thread after it, and where its entries went"`
}

// HibernatedOf returns the document of a checkpoint that was written, and of its
// journal, nil where it has none.
func HibernatedOf(stamp *agent.CheckpointResult, journal *agent.ThreadResult) Hibernated {
	out := Hibernated{CheckpointStamp: CheckpointStampOf(stamp)}
	if journal != nil {
		appended := ThreadStampOf(journal)
		out.Journal = &appended
	}
	return out
}

// thawedThread is a thread with its entries.
type thawedThread struct {
	Thread
	Entries []Entry `json:"entries" nullable:"false"`
}

// Thawed answers a thaw.
type Thawed struct {
	Checkpoint Checkpoint    `json:"checkpoint"`
	Thread     *thawedThread `json:"thread" doc:"As of the checkpoint's pointer; null without one"`
	Ahead      uint64        `json:"ahead" doc:"Entries that the journal has past the pointer"`
}

// ThawedOf returns the document of t.
func ThawedOf(t *agent.Thawed) Thawed {
	out := Thawed{Checkpoint: CheckpointOf(&t.Checkpoint), Ahead: t.Ahead}
	if t.Thread != nil {
		out.Thread = &thawedThread{Thread: ThreadOf(*t.Thread), Entries: entriesOf(t.Entries)}
	}
	return out
}

type hibernateThreadOp struct {
	opName
	journalTail
	Thread        string `json:"thread"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

func (o *hibernateThreadOp) op() (agent.Op, error) {
	op, err := o.journalTail.op(o.Thread)
	op.IfIncarnation = o.IfIncarnation
	return op, err
}
