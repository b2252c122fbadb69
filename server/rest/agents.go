package rest

import (
	"net/http"

	"dormouse/agent"
)

// hibernateBody is an agent as it goes to sleep.
type hibernateBody struct {
	State      document       `json:"state" doc:"What the agent needs to go on; __thread__ is dropped"`
	Version    uint64         `json:"version,omitempty" doc:"The caller's schema version; 1 where absent"`
	Thread     *hibernateTail `json:"thread,omitempty"`
	Lifecycle  string         `json:"lifecycle,omitempty" enum:"completion,cancel,error,interrupt,title_generated,shutdown,idle,manual,fork" doc:"Why it is saved"`
	Metadata   document       `json:"metadata,omitempty"`
	IfRevision *uint64        `json:"if_revision,omitempty" doc:"Apply only at this revision of the checkpoint; 0 means that there must be none"`
}

// ops returns the write of the checkpoint, and that of the journal, which comes
// before it; nil where the body has none.
func (b *hibernateBody) ops(key string) (*agent.PutCheckpoint, *agent.HibernateThread, error) {
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
	Rev      *uint64  `json:"rev,omitempty" doc:"The caller's rev; from_seq and the number of entries where absent"`
	FromSeq  *uint64  `json:"from_seq,omitempty" doc:"The seq of the first of the entries; rev less their number where absent"`
	Entries  drafts   `json:"entries,omitempty" doc:"What overlaps the journal must equal it; the rest is appended"`
	Metadata document `json:"metadata,omitempty" doc:"Honoured while the journal's rev is 0"`
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
		Thread: thread, Rev: rev, FromSeq: from, Entries: t.Entries.drafts(), Metadata: agent.JSON(t.Metadata),
	}, err
}

// hibernated answers a hibernation.
type hibernated struct {
	checkpointStamp
	Journal *threadStamp `json:"journal,omitempty" doc:"The thread after it, and where its entries went"`
}

// hibernatedOf returns the document of a checkpoint that was written, and of its
// journal, nil where it has none.
func hibernatedOf(stamp *agent.CheckpointResult, journal *agent.ThreadResult) hibernated {
	out := hibernated{checkpointStamp: checkpointStampOf(stamp)}
	if journal != nil {
		appended := threadStampOf(journal)
		out.Journal = &appended
	}
	return out
}

// thawedThread is a thread with its entries.
type thawedThread struct {
	thread
	Entries []entry `json:"entries" nullable:"false"`
}

// thawed answers a thaw.
type thawed struct {
	Checkpoint checkpoint    `json:"checkpoint"`
	Thread     *thawedThread `json:"thread" doc:"As of the checkpoint's pointer; null without one"`
	Ahead      uint64        `json:"ahead" doc:"Entries that the journal has past the pointer"`
}

func thawedOf(t *agent.Thawed) thawed {
	out := thawed{Checkpoint: checkpointOf(&t.Checkpoint), Ahead: t.Ahead}
	if t.Thread != nil {
		out.Thread = &thawedThread{thread: threadOf(*t.Thread), Entries: entriesOf(t.Entries)}
	}
	return out
}

func (f *front) routeAgents() {
	const tag, one = "agents", "/v1/agents/{key}"
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-agent", tag: tag,
		summary: "Append what the journal lacks and put the checkpoint, in one commit",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: hibernated{},
	}, (*call).hibernate)
	register(f, route{
		method: http.MethodGet, path: one + "/thaw", id: "thaw-agent", tag: tag, summary: "Read a checkpoint and the thread that it points to",
		effect: reads, query: []string{"tail", "revision"}, answers: thawed{},
	}, (*call).thaw)
	f.routeWholeAgents()
}

func (c *call) hibernate(body *hibernateBody) error {
	put, journal, err := body.ops(c.id("key"))
	if err != nil {
		return err
	}
	put.IfRevision = c.conditioned(put.IfRevision)
	ops := []agent.Op{put}
	if journal != nil {
		ops = []agent.Op{journal, put}
	}
	result, err := c.commit(ops...)
	if err != nil {
		return err
	}
	return c.answerHibernation(result)
}

func (c *call) answerHibernation(result agent.Result) error {
	last := len(result.Results) - 1
	stamp, err := resultOf[*agent.CheckpointResult](result, last)
	if err != nil {
		return err
	}
	var journal *agent.ThreadResult
	if last > 0 {
		if journal, err = resultOf[*agent.ThreadResult](result, 0); err != nil {
			return err
		}
	}
	a := reply{revision: &stamp.Revision, body: hibernatedOf(stamp, journal)}
	if stamp.Revision == 1 {
		a.location = location("checkpoints", stamp.Key)
	}
	return c.answer(a)
}

func (c *call) thaw(*none) error {
	found, err := read[*agent.Thawed](c, &agent.Thaw{
		Key:      c.id("key"),
		Tail:     c.optional("tail"),
		Revision: c.number("revision"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Checkpoint.Revision, body: thawedOf(found)})
}
