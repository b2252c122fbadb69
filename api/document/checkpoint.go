package document

import (
	"dormouse/agent"
)

var checkpointOps = map[string]func() wireOp{
	"put_checkpoint":    func() wireOp { return new(putCheckpointOp) },
	"patch_checkpoint":  func() wireOp { return new(patchCheckpointOp) },
	"delete_checkpoint": func() wireOp { return new(deleteCheckpointOp) },
	"patch_cron":        func() wireOp { return new(patchCronOp) },
}

// pointerBody is a checkpoint's reference into a thread, in a request.
type pointerBody struct {
	ID          string `json:"id"`
	Rev         uint64 `json:"rev"`
	Head        string `json:"head,omitempty" doc:"The expected head of the thread at rev, in hex; any if absent"`
	Incarnation uint64 `json:"incarnation,omitempty" doc:"The incarnation of the thread; the current one if absent"`
}

// ToAgent returns the pointer that a body names; nil for none.
func (p *pointerBody) ToAgent() *agent.Pointer {
	if p == nil {
		return nil
	}
	return &agent.Pointer{Thread: p.ID, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// pointerOf returns the document of a stored pointer.
func pointerOf(p *agent.Pointer) *pointerBody {
	if p == nil {
		return nil
	}
	return &pointerBody{ID: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// CheckpointBody is a checkpoint in a request.
type CheckpointBody struct {
	State         JSON         `json:"state" doc:"The agent's state; the member __thread__ is dropped"`
	Version       uint64       `json:"version,omitempty" doc:"The caller's schema version; 1 if absent"`
	Thread        *pointerBody `json:"thread,omitempty" doc:"Must match the thread at this commit"`
	Lifecycle     string       `json:"lifecycle,omitempty" enum:"completion,cancel,error,interrupt,title_generated,shutdown,idle,manual,fork" doc:"Why it is saved"`
	Metadata      JSON         `json:"metadata,omitempty"`
	TTLMS         uint64       `json:"ttl_ms,omitempty" doc:"Expires after this time, in log time"`
	IfRevision    *uint64      `json:"if_revision,omitempty" doc:"Apply only at this revision; 0 means that it must not exist"`
	IfIncarnation uint64       `json:"if_incarnation,omitempty"`
	OnExists      string       `json:"on_exists,omitempty" enum:"replace,skip" doc:"skip keeps a checkpoint that exists; replace if absent"`
}

// ToOp returns the op that the body asks for.
func (b *CheckpointBody) ToOp(key string) (*agent.PutCheckpoint, error) {
	if b.State == nil {
		return nil, noState()
	}
	ttl, err := Duration("ttl_ms", b.TTLMS)
	if err != nil {
		return nil, err
	}
	skip, err := SkipsExistingRow(b.OnExists)
	if err != nil {
		return nil, err
	}
	return &agent.PutCheckpoint{
		Key:           key,
		Version:       b.Version,
		State:         agent.JSON(b.State),
		Thread:        b.Thread.ToAgent(),
		Lifecycle:     b.Lifecycle,
		Metadata:      agent.JSON(b.Metadata),
		TTL:           ttl,
		IfRevision:    b.IfRevision,
		IfIncarnation: b.IfIncarnation,
		SkipExisting:  skip,
	}, nil
}

// noState refuses a checkpoint without a state, so that an omission does not empty an
// agent.
func noState() error {
	return agent.Invalid("state", "state is missing: give an object, {} for an empty one")
}

// CheckpointStamp is the result of a write to a checkpoint.
type CheckpointStamp struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	Thread      *pointerBody `json:"thread,omitempty" doc:"The stored pointer"`
	Skipped     bool         `json:"skipped,omitzero" doc:"The checkpoint existed and was kept"`
}

// CheckpointStampOf returns the document of r.
func CheckpointStampOf(r *agent.CheckpointResult) CheckpointStamp {
	return CheckpointStamp{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Thread: pointerOf(r.Thread), Skipped: r.Skipped,
	}
}

// Checkpoint is a stored checkpoint with its state.
type Checkpoint struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	Version     uint64       `json:"version"`
	State       JSON         `json:"state"`
	Thread      *pointerBody `json:"thread"`
	Lifecycle   string       `json:"lifecycle"`
	Metadata    JSON         `json:"metadata"`
	CreatedAt   int64        `json:"created_at"`
	UpdatedAt   int64        `json:"updated_at"`
	ExpiresAt   int64        `json:"expires_at,omitzero"`
}

// CheckpointOf returns the document of c.
func CheckpointOf(c *agent.Checkpoint) Checkpoint {
	return Checkpoint{
		Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, Version: c.Version,
		State: JSON(c.State), Thread: pointerOf(c.Thread), Lifecycle: c.Lifecycle, Metadata: JSON(c.Metadata),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ExpiresAt: c.ExpiresAt,
	}
}

// CheckpointRow is a checkpoint in a list.
type CheckpointRow struct {
	Key         string       `json:"key"`
	Incarnation uint64       `json:"incarnation"`
	Revision    uint64       `json:"revision"`
	UpdatedAt   int64        `json:"updated_at"`
	Bytes       uint64       `json:"bytes"`
	Thread      *pointerBody `json:"thread,omitempty"`
	Lifecycle   string       `json:"lifecycle,omitzero"`
	ExpiresAt   int64        `json:"expires_at,omitzero"`
	State       JSON         `json:"state,omitzero" doc:"If the list is asked for bodies"`
	Metadata    JSON         `json:"metadata,omitzero" doc:"If the list is asked for bodies"`
}

// CheckpointRowOf returns the document of r.
func CheckpointRowOf(r agent.CheckpointRow) CheckpointRow {
	return CheckpointRow{
		Key: r.Key, Incarnation: r.Incarnation, Revision: r.Revision, UpdatedAt: r.UpdatedAt, Bytes: r.Bytes,
		Thread: pointerOf(r.Thread), Lifecycle: r.Lifecycle, ExpiresAt: r.ExpiresAt, State: JSON(r.State), Metadata: JSON(r.Metadata),
	}
}

type putCheckpointOp struct {
	opName
	Key string `json:"key"`
	CheckpointBody
}

func (o *putCheckpointOp) op() (agent.Op, error) { return o.ToOp(o.Key) }

type patchCheckpointOp struct {
	opName
	Key           string  `json:"key"`
	Patch         JSON    `json:"patch"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	Upsert        bool    `json:"upsert,omitempty" doc:"Patch a missing checkpoint as an empty one"`
	Shallow       bool    `json:"shallow,omitempty" doc:"Members of the patch replace those of the state whole"`
}

func (o *patchCheckpointOp) op() (agent.Op, error) {
	return &agent.PatchCheckpoint{
		Key: o.Key, Patch: agent.JSON(o.Patch), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Upsert: o.Upsert, Shallow: o.Shallow,
	}, nil
}

type patchCronOp struct {
	opName
	Key           string  `json:"key"`
	Specs         JSON    `json:"specs" doc:"{job: {cron_expression, message, timezone?, missed?, catch_up?}}, or null to cancel"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

func (o *patchCronOp) op() (agent.Op, error) {
	return &agent.PatchCron{Key: o.Key, Specs: agent.JSON(o.Specs), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation}, nil
}

type deleteCheckpointOp struct {
	opName
	Key           string  `json:"key"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteCheckpointOp) op() (agent.Op, error) {
	seal, err := Duration("seal_ms", o.SealMS)
	return &agent.DeleteCheckpoint{Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}
