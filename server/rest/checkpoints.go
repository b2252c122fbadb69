package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
)

// pointerBody is a checkpoint's reference into a thread, as a caller writes it.
type pointerBody struct {
	ID          string `json:"id"`
	Rev         uint64 `json:"rev"`
	Head        string `json:"head,omitempty" doc:"What the thread's head must be at rev, in hex; any where absent"`
	Incarnation uint64 `json:"incarnation,omitempty" doc:"Which incarnation of the thread; the current one where absent"`
}

func (p *pointerBody) pointer() *agent.Pointer {
	if p == nil {
		return nil
	}
	return &agent.Pointer{Thread: p.ID, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// pointerOf writes a stored pointer.
func pointerOf(p *agent.Pointer) *pointerBody {
	if p == nil {
		return nil
	}
	return &pointerBody{ID: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// checkpointBody is a checkpoint as a caller writes it.
type checkpointBody struct {
	State         document     `json:"state" doc:"What the agent needs to go on; __thread__ is dropped"`
	Version       uint64       `json:"version,omitempty" doc:"The caller's schema version; 1 where absent"`
	Thread        *pointerBody `json:"thread,omitempty" doc:"Must match the journal as of this commit"`
	Lifecycle     string       `json:"lifecycle,omitempty" enum:"completion,cancel,error,interrupt,title_generated,shutdown,idle,manual,fork" doc:"Why it is saved"`
	Metadata      document     `json:"metadata,omitempty"`
	TTLMS         uint64       `json:"ttl_ms,omitempty" doc:"Expire after so long, in log time"`
	IfRevision    *uint64      `json:"if_revision,omitempty" doc:"Apply only at this revision; 0 means that there must be none"`
	IfIncarnation uint64       `json:"if_incarnation,omitempty"`
}

func (b *checkpointBody) ToOp(key string) (*agent.PutCheckpoint, error) {
	if b.State == nil {
		return nil, noState()
	}
	ttl, err := timed("ttl_ms", b.TTLMS)
	if err != nil {
		return nil, err
	}
	return &agent.PutCheckpoint{
		Key:           key,
		Version:       b.Version,
		State:         agent.JSON(b.State),
		Thread:        b.Thread.pointer(),
		Lifecycle:     b.Lifecycle,
		Metadata:      agent.JSON(b.Metadata),
		TTL:           ttl,
		IfRevision:    b.IfRevision,
		IfIncarnation: b.IfIncarnation,
	}, nil
}

// noState refuses a checkpoint without a state: what was left out by mistake
// must not empty an agent. null is an empty state.
func noState() error {
	return agent.Invalid("state", "a checkpoint needs a state")
}

// checkpointStamp answers a write to a checkpoint.
type checkpointStamp struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	Thread      *pointerBody `json:"thread,omitempty" doc:"The pointer as it is stored"`
}

func checkpointStampOf(r *agent.CheckpointResult) checkpointStamp {
	return checkpointStamp{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: pointerOf(r.Thread),
	}
}

// checkpoint is a stored checkpoint, whole.
type checkpoint struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	Version     uint64       `json:"version"`
	State       document     `json:"state"`
	Thread      *pointerBody `json:"thread"`
	Lifecycle   string       `json:"lifecycle"`
	Metadata    document     `json:"metadata"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	ExpiresAt   int64        `json:"expires_at,omitzero"`
}

func checkpointOf(c *agent.Checkpoint) checkpoint {
	return checkpoint{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Version: c.Version,
		State: document(c.State), Thread: pointerOf(c.Thread), Lifecycle: c.Lifecycle, Metadata: document(c.Metadata),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

// checkpointRow is a checkpoint in a list.
type checkpointRow struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	UpdatedAt   int64        `json:"updated_at"`
	Bytes       uint64       `json:"bytes"`
	Thread      *pointerBody `json:"thread,omitempty"`
	Lifecycle   string       `json:"lifecycle,omitzero"`
	ExpiresAt   int64        `json:"expires_at,omitzero"`
}

func checkpointRowOf(r agent.CheckpointRow) checkpointRow {
	return checkpointRow{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, UpdatedAt: r.UpdatedAt, Bytes: r.Bytes,
		Thread: pointerOf(r.Thread), Lifecycle: r.Lifecycle, ExpiresAt: r.ExpiresAt,
	}
}

func (f *front) routeCheckpoints() {
	const tag, key = "checkpoints", "/v1/checkpoints/{key}"
	register(f, route{
		method: http.MethodPut, path: key, id: "put-checkpoint", tag: tag, summary: "Write a checkpoint whole",
		effect: writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: checkpointStamp{},
	}, (*call).putCheckpoint)
	register(f, route{
		method: http.MethodPatch, path: key, id: "patch-checkpoint", tag: tag, summary: "Merge a patch into the state (RFC 7396)",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation"}, bodyNeeded: true,
		accepts: []string{"application/merge-patch+json", "application/json"}, answers: checkpointStamp{},
	}, (*call).patchCheckpoint)
	register(f, route{
		method: http.MethodPatch, path: key + "/cron", id: "patch-checkpoint-cron", tag: tag,
		summary: "Set or cancel single jobs in the state's __cron_specs__",
		effect:  writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation"}, bodyNeeded: true, answers: checkpointStamp{},
	}, (*call).patchCron)
	register(f, route{
		method: http.MethodDelete, path: key, id: "delete-checkpoint", tag: tag, summary: "Delete a checkpoint and its history",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, (*call).deleteCheckpoint)
	register(f, route{
		method: http.MethodGet, path: key, id: "get-checkpoint", tag: tag, summary: "Read a checkpoint whole",
		effect: reads, query: []string{"revision"}, answers: checkpoint{},
	}, (*call).getCheckpoint)
	register(f, route{
		method: http.MethodGet, path: "/v1/checkpoints", id: "list-checkpoints", tag: tag, summary: "List checkpoints in key order",
		effect: reads, query: listQuery, answers: list[checkpointRow]{},
	}, (*call).listCheckpoints)
	register(f, route{
		method: http.MethodGet, path: key + "/history", id: "list-checkpoint-history", tag: tag, summary: "List the revisions kept of a key, newest first",
		effect: reads, query: []string{"after", "limit"}, answers: list[checkpointRow]{},
	}, (*call).checkpointHistory)
}

func (c *call) putCheckpoint(body *checkpointBody) error {
	op, err := body.ToOp(c.id("key"))
	if err != nil {
		return err
	}
	op.IfRevision = c.conditioned(op.IfRevision)
	return c.answerCheckpoint(op)
}

func (c *call) patchCheckpoint(body *document) error {
	return c.answerCheckpoint(&agent.PatchCheckpoint{
		Key:           c.id("key"),
		Patch:         agent.JSON(*body),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
	})
}

func (c *call) patchCron(specs *document) error {
	return c.answerCheckpoint(&agent.PatchCron{
		Key: c.id("key"), Specs: agent.JSON(*specs), IfRevision: c.conditioned(c.optional("if_revision")), IfIncarnation: c.number("if_incarnation"),
	})
}

// answerCheckpoint makes a commit of one write to a checkpoint.
func (c *call) answerCheckpoint(op agent.Op) error {
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.CheckpointResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: checkpointStampOf(stamp)}
	if stamp.Revision == 1 && c.route.creates { // revisions count from 1 in each incarnation
		a.location = location("checkpoints", stamp.Key)
	}
	return c.answer(a)
}

func (c *call) deleteCheckpoint(*none) error {
	_, err := c.commit(&agent.DeleteCheckpoint{
		Key:           c.id("key"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) getCheckpoint(*none) error {
	found, err := read[*agent.Checkpoint](c, &agent.GetCheckpoint{Key: c.id("key"), Revision: c.number("revision")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: checkpointOf(found)})
}

func (c *call) listCheckpoints(*none) error {
	found, err := read[*agent.CheckpointList](c, &agent.ListCheckpoints{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, checkpointRowOf)})
}

// checkpointHistory pages by itself: a history is short, so it is read whole.
// Its after is a revision, and it goes downwards.
func (c *call) checkpointHistory(*none) error {
	limit := c.number("limit")
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	if limit > agent.ListLimitMax {
		return agent.Invalid("limit", "limit is %d, more than %d", limit, agent.ListLimitMax)
	}
	after := c.optional("after")
	found, err := read[*agent.CheckpointList](c, &agent.CheckpointHistory{Key: c.id("key")})
	if err != nil {
		return err
	}
	rows, next := found.Items, ""
	if after != nil {
		for len(rows) > 0 && rows[0].Revision >= *after {
			rows = rows[1:]
		}
	}
	if uint64(len(rows)) > limit {
		rows = rows[:limit]
		next = strconv.FormatUint(rows[limit-1].Revision, 10)
	}
	return c.answer(reply{body: listOf(rows, next, checkpointRowOf)})
}
