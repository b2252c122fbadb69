package httpclient

import (
	"cmp"
	"encoding/json"

	"dormouse/agent"
)

// stampDocument is the answer to a write of a value or a checkpoint.
type stampDocument struct {
	Key         string           `json:"key"`
	Incarnation uint64           `json:"incarnation"`
	Revision    uint64           `json:"revision"`
	CreatedAt   int64            `json:"created_at"`
	UpdatedAt   int64            `json:"updated_at"`
	Skipped     bool             `json:"skipped"`
	Thread      *pointerDocument `json:"thread"`
}

type pointerDocument struct {
	ID          string `json:"id"`
	Rev         uint64 `json:"rev"`
	Head        string `json:"head"`
	Incarnation uint64 `json:"incarnation"`
}

func (p *pointerDocument) agent() *agent.Pointer {
	if p == nil {
		return nil
	}
	return &agent.Pointer{Thread: p.ID, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// opResult returns the result of one op in the answer of POST /v1/commits. sent is the op that was
// sent, for an answer that does not name it.
func opResult(raw json.RawMessage, sent string) (agent.OpResult, error) {
	var named struct {
		Op          string `json:"op"`
		Existed     bool   `json:"existed"`
		Incarnation uint64 `json:"incarnation"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return nil, err
	}
	named.Op = cmp.Or(named.Op, sent)
	switch named.Op {
	case "put_value":
		r, _, err := valueStamp(raw)
		return r, err
	case "put_checkpoint", "patch_checkpoint":
		r, _, err := checkpointStamp(raw)
		return r, err
	case "append_thread", "hibernate_thread", "compact_thread", "fork_thread":
		r, _, err := threadResult(raw)
		return r, err
	case "delete_value", "delete_checkpoint", "delete_thread", "delete_session", "delete_memory", "delete_timer", "delete_scope", "revoke_token":
		return &agent.DeleteResult{Existed: named.Existed, Incarnation: named.Incarnation}, nil
	default:
		return formedResult(named.Op, raw)
	}
}

func valueStamp(raw []byte) (agent.OpResult, int64, error) {
	var d stampDocument
	err := json.Unmarshal(raw, &d)
	return &agent.ValueResult{
		Key: d.Key, Incarnation: d.Incarnation, Revision: d.Revision, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Skipped: d.Skipped,
	}, d.UpdatedAt, err
}

func checkpointStamp(raw []byte) (agent.OpResult, int64, error) {
	var d stampDocument
	err := json.Unmarshal(raw, &d)
	return &agent.CheckpointResult{
		Key: d.Key, Incarnation: d.Incarnation, Revision: d.Revision, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		Thread: d.Thread.agent(), Skipped: d.Skipped,
	}, d.UpdatedAt, err
}

func threadResult(raw []byte) (agent.OpResult, int64, error) {
	var d struct {
		threadDocument
		Entries []struct {
			ID      string `json:"id"`
			Seq     uint64 `json:"seq"`
			At      int64  `json:"at"`
			Skipped bool   `json:"skipped"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, 0, err
	}
	t, err := d.agent()
	r := &agent.ThreadResult{Thread: t}
	for _, e := range d.Entries {
		r.Entries = append(r.Entries, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At, Skipped: e.Skipped})
	}
	return r, t.UpdatedAt, err
}
