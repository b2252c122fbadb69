package rest

import (
	"cmp"
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
)

// thread is a thread's meta.
type thread struct {
	ID          string      `json:"id"`
	Incarnation uint64      `json:"incarnation"`
	Rev         uint64      `json:"rev" doc:"The number of entries ever appended in this incarnation"`
	Head        string      `json:"head" doc:"The hash chain over them, in hex"`
	Floor       uint64      `json:"floor" doc:"The first seq that is still there"`
	CreatedAt   int64       `json:"created_at"`
	UpdatedAt   int64       `json:"updated_at"`
	Metadata    document    `json:"metadata"`
	Stats       threadStats `json:"stats"`
	Summary     document    `json:"summary,omitzero" doc:"What compaction kept at the floor"`
	ForkedFrom  *forkPoint  `json:"forked_from,omitempty"`
	ExpiresAt   int64       `json:"expires_at,omitzero"`
}

type threadStats struct {
	EntryCount uint64 `json:"entry_count" doc:"Equal to rev"`
}

// forkPoint says where a fork left its parent.
type forkPoint struct {
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Rev         uint64 `json:"rev"`
}

func threadOf(t agent.Thread) thread {
	out := thread{
		ID: t.ID, Incarnation: t.Incarnation, Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: document(t.Metadata),
		Stats: threadStats{EntryCount: t.Rev}, Summary: document(t.Summary), ExpiresAt: t.ExpiresAt,
	}
	if from := t.ForkedFrom; from != nil {
		out.ForkedFrom = &forkPoint{ID: from.Thread, Incarnation: from.Incarnation, Rev: from.Rev}
	}
	return out
}

// threadStamp answers an append.
type threadStamp struct {
	ID          string       `json:"id"`
	Incarnation uint64       `json:"incarnation"`
	Rev         uint64       `json:"rev"`
	Head        string       `json:"head"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	Entries     []entryStamp `json:"entries" nullable:"false" doc:"One an entry sent, in order; of those that were there already too"`
}

func threadStampOf(r *agent.ThreadResult) threadStamp {
	stamps := make([]entryStamp, len(r.Entries))
	for i, e := range r.Entries {
		stamps[i] = entryStamp{ID: e.ID, Seq: e.Seq, At: e.At}
	}
	return threadStamp{
		ID: r.Thread.ID, Incarnation: r.Thread.Incarnation, Rev: r.Thread.Rev, Head: r.Thread.Head.String(),
		CreatedAt: r.Thread.CreatedAt, UpdatedAt: r.Thread.UpdatedAt, Entries: stamps,
	}
}

// newThreadBody is a thread of a generated id.
type newThreadBody struct {
	Metadata document `json:"metadata,omitempty"`
	Entries  drafts   `json:"entries,omitempty"`
}

// compactBody asks to forget the entries below a seq.
type compactBody struct {
	BeforeSeq     uint64   `json:"before_seq"`
	Summary       document `json:"summary,omitempty" doc:"An entry payload kept at the floor"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

func (b *compactBody) ToOp(thread string) *agent.CompactThread {
	return &agent.CompactThread{Thread: thread, BeforeSeq: b.BeforeSeq, Summary: agent.JSON(b.Summary), IfIncarnation: b.IfIncarnation}
}

// compacted answers a compaction.
type compacted struct {
	Rev   uint64 `json:"rev"`
	Head  string `json:"head"`
	Floor uint64 `json:"floor"`
}

func compactedOf(t agent.Thread) compacted {
	return compacted{Rev: t.Rev, Head: t.Head.String(), Floor: t.Floor}
}

// forkBody asks for a thread that shares another's beginning.
type forkBody struct {
	ID            string  `json:"id" doc:"Of the new thread"`
	AtRev         *uint64 `json:"at_rev,omitempty" doc:"Share the entries below this rev; all of them where absent"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

func (b *forkBody) ToOp(thread string) *agent.ForkThread {
	return &agent.ForkThread{Thread: thread, NewThread: b.ID, AtRev: b.AtRev, IfIncarnation: b.IfIncarnation}
}

// verified answers a verification.
type verified struct {
	OK   bool   `json:"ok"`
	Rev  uint64 `json:"rev"`
	Head string `json:"head" doc:"Recomputed"`
	Why  string `json:"why,omitzero" doc:"Where it is not ok"`
}

func verifiedOf(v *agent.Verified) verified {
	return verified{OK: v.OK, Rev: v.Rev, Head: v.Head.String(), Why: v.Why}
}

func (f *front) routeThreads() {
	const tag, all, one = "threads", "/v1/threads", "/v1/threads/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-thread", tag: tag, summary: "Create a thread with a generated id",
		effect: writes, status: http.StatusCreated, creates: true, answers: threadStamp{},
	}, (*call).createThread)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-threads", tag: tag, summary: "List threads in id order",
		effect: reads, query: listQuery, answers: list[thread]{},
	}, (*call).listThreads)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-thread", tag: tag, summary: "Read a thread's meta",
		effect: reads, answers: thread{},
	}, (*call).getThread)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-thread", tag: tag, summary: "Delete a thread",
		effect: writes, query: []string{"seal_ms", "if_incarnation"}, status: http.StatusNoContent,
	}, (*call).deleteThread)
	register(f, route{
		method: http.MethodPost, path: one + "/compact", id: "compact-thread", tag: tag, summary: "Forget the entries below a seq; rev and head stay",
		effect: writes, bodyNeeded: true, answers: compacted{},
	}, (*call).compactThread)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-thread", tag: tag, summary: "Make a new thread that shares this one's entries",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: thread{},
	}, (*call).forkThread)
	register(f, route{
		method: http.MethodGet, path: one + "/verify", id: "verify-thread", tag: tag, summary: "Recompute the chain against the stored head",
		effect: reads, answers: verified{},
	}, (*call).verifyThread)
}

// threadIDs is the name space of thread ids that are made of idempotency keys.
var threadIDs = uuid.MustParse("6b8a2f5c-3f1e-4d55-9a6c-6f3f1f0f7c11")

// newID generates an id. Under an idempotency key a retry must be the same
// commit, so there the id follows from the key, within a name space.
func (c *call) newID(prefix string, space uuid.UUID) (string, error) {
	if c.idemKey != "" {
		scope := cmp.Or(c.scope, agent.DefaultScope)
		return prefix + uuid.NewSHA1(space, []byte(scope+"\x00"+c.idemKey)).String(), nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", agent.Errorf(agent.CodeInternal, "no randomness for an id: %v", err)
	}
	return prefix + id.String(), nil
}

func (c *call) createThread(body *newThreadBody) error {
	id, err := c.newID("thread_", threadIDs)
	if err != nil {
		return err
	}
	result, err := c.commit(&agent.AppendThread{
		Thread:      id,
		Entries:     body.Entries.drafts(),
		ExpectedRev: new(uint64), // a key that is used again after its window must not append
		Metadata:    agent.JSON(body.Metadata),
	})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, location: location("threads", id), body: threadStampOf(done)})
}

func (c *call) listThreads(*none) error {
	found, err := read[*agent.ThreadList](c, &agent.ListThreads{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, threadOf)})
}

func (c *call) getThread(*none) error {
	found, err := read[*agent.Thread](c, &agent.GetThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Rev, body: threadOf(*found)})
}

func (c *call) deleteThread(*none) error {
	_, err := c.commit(&agent.DeleteThread{
		Thread:        c.id("id"),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) compactThread(body *compactBody) error {
	result, err := c.commit(body.ToOp(c.id("id")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	t := done.Thread
	return c.answer(reply{revision: &t.Rev, body: compactedOf(t)})
}

func (c *call) forkThread(body *forkBody) error {
	result, err := c.commit(body.ToOp(c.id("id")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, location: location("threads", done.Thread.ID), body: threadOf(done.Thread)})
}

func (c *call) verifyThread(*none) error {
	found, err := read[*agent.Verified](c, &agent.VerifyThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: verifiedOf(found)})
}
