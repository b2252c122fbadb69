package document

import (
	"dormouse/agent"
)

var hibernationOps = map[string]func() wireOp{
	"hibernate_thread": func() wireOp { return new(hibernateThreadOp) },
}

// HibernateBody is an agent's checkpoint and the end of its thread.
type HibernateBody struct {
	State      JSON           `json:"state" doc:"The agent's state; the member __thread__ is dropped"`
	Version    uint64         `json:"version,omitempty" doc:"The caller's schema version; 1 if absent"`
	Thread     *hibernateTail `json:"thread,omitempty"`
	Lifecycle  string         `json:"lifecycle,omitempty" enum:"completion,cancel,error,interrupt,title_generated,shutdown,idle,manual,fork" doc:"Why it is saved"`
	Metadata   JSON           `json:"metadata,omitempty"`
	IfRevision *uint64        `json:"if_revision,omitempty" doc:"Apply only at this revision of the checkpoint; 0 means that it must not exist"`
}

// ToOps returns the write of the checkpoint, and the append to the thread that
// precedes it; nil if the body has no thread.
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

// hibernateTail is the end of the thread, as the caller knows it.
type hibernateTail struct {
	ID string `json:"id"`
	journalTail
}

// journalTail is the end of a thread: the entries from a seq on.
type journalTail struct {
	Rev      *uint64 `json:"rev,omitempty" doc:"The caller's rev; from_seq plus the number of entries if absent"`
	FromSeq  *uint64 `json:"from_seq,omitempty" doc:"The seq of the first entry; rev minus the number of entries if absent"`
	Entries  Drafts  `json:"entries,omitempty" doc:"Entries that the thread has must be equal; the others are appended"`
	Metadata JSON    `json:"metadata,omitempty" doc:"Applied while the thread's rev is 0"`
}

// bounds returns rev and from_seq, one of which may follow from the other.
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
		rev = *t.Rev // from stays 0, which does not match
	default:
		rev = count
	}
	if from+count != rev || from > rev {
		return 0, 0, agent.Invalid("thread.rev", "rev is %d, but %d entries from seq %d give rev %d", rev, count, from, from+count)
	}
	return rev, from, nil
}

func (t *journalTail) op(thread string) (*agent.HibernateThread, error) {
	rev, from, err := t.bounds()
	return &agent.HibernateThread{
		Thread: thread, Rev: rev, FromSeq: from, Entries: t.Entries.ToAgent(), Metadata: agent.JSON(t.Metadata),
	}, err
}

// Hibernated is the result of a hibernation.
type Hibernated struct {
	CheckpointStamp
	Journal *ThreadStamp `json:"journal,omitempty" doc:"The thread afterwards, and where its entries were stored"`
}

// HibernatedOf returns the document of a stored checkpoint and of its thread, which
// may be nil.
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

// Thawed is the result of a thaw.
type Thawed struct {
	Checkpoint Checkpoint    `json:"checkpoint"`
	Thread     *thawedThread `json:"thread" doc:"At the checkpoint's pointer; null without one"`
	Ahead      uint64        `json:"ahead" doc:"Number of entries in the thread past the pointer"`
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
