package checkpoint

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// Get answers get_checkpoint.
func Get(r txn.Reader, q *agent.GetCheckpoint) (agent.Found, error) {
	checkpoint, err := At(r, q.Key, q.Revision)
	if err != nil {
		return nil, err
	}
	return checkpoint, nil
}

// At returns a checkpoint at a kept revision; 0 is the current one.
func At(r txn.Reader, key string, revision uint64) (*agent.Checkpoint, error) {
	row, err := currentCheckpoint(r, key)
	if err != nil {
		return nil, err
	}
	if revision != 0 && revision != row.Revision {
		if row, err = olderCheckpoint(r, key, row, revision); err != nil {
			return nil, err
		}
	}
	body, err := bodyOf(r, key, row)
	if err != nil {
		return nil, err
	}
	return &agent.Checkpoint{
		Key: key, Incarnation: row.Incarnation, Revision: row.Revision, Version: row.Version,
		State: body.State, Thread: command.DecodePointer(row.Thread), Lifecycle: row.Lifecycle, Metadata: body.Metadata,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}, nil
}

func currentCheckpoint(r txn.Reader, key string) (*logpb.CheckpointRow, error) {
	raw, err := r.Get(kv.IDKey(kv.KindCheckpoint, r.Scope, key))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, txn.NotFound("checkpoint", key)
	}
	row, err := command.DecodeCheckpointRow(key, raw)
	if err != nil {
		return nil, err
	}
	if r.Gone(kv.KindCheckpoint, key, row) {
		return nil, txn.NotFound("checkpoint", key)
	}
	return row, nil
}

func olderCheckpoint(r txn.Reader, key string, current *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	row, err := olderRevisionOf(r, key, current, revision)
	if err == nil && row == nil {
		err = notKeptNow(r, key, current, revision)
	}
	return row, err
}

// notKeptNow returns an error that names the revisions that are kept.
func notKeptNow(r txn.Reader, key string, current *logpb.CheckpointRow, revision uint64) error {
	list, err := History(r, &agent.CheckpointHistory{Key: key})
	if err != nil {
		return err
	}
	oldest := current.Revision
	if items := list.(*agent.CheckpointList).Items; len(items) > 0 { //nolint:forcetypeassert // history answers with nothing else
		oldest = items[len(items)-1].Revision
	}
	return NotKept(key, revision, oldest, current.Revision)
}

// NotKept returns the error of a revision that does not exist, or is not kept any more.
func NotKept(key string, revision, oldest, newest uint64) *agent.Error {
	e := agent.Errorf(agent.CodeNotFound, "revision %d of checkpoint %q is not kept: %d to %d are", revision, key, oldest, newest)
	e.Revision, e.Floor = newest, oldest
	return e
}

func checkpointRow(key string, row *logpb.CheckpointRow) agent.CheckpointRow {
	return agent.CheckpointRow{
		Key: key, Incarnation: row.Incarnation, Revision: row.Revision, Bytes: row.StateSize,
		Thread: command.DecodePointer(row.Thread), Lifecycle: row.Lifecycle, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}
}

// List answers list_checkpoints.
func List(r txn.Reader, q *agent.ListCheckpoints) (agent.Found, error) {
	list := &agent.CheckpointList{}
	var page txn.Bodies
	next, err := r.EachListed(kv.KindCheckpoint, q.Where, q.Page, func(key string, raw []byte) (int, error) {
		row, err := command.DecodeCheckpointRow(key, raw)
		if err != nil || r.Gone(kv.KindCheckpoint, key, row) || !q.Has(row.UpdatedAt) {
			return 0, err
		}
		item, size := checkpointRow(key, row), len(key)+len(raw)
		if q.Body {
			if err := page.Fit(size + int(row.Size)); err != nil {
				return 0, err
			}
			size += int(row.Size)
		}
		if q.Body || len(q.Where) > 0 {
			body, err := bodyOf(r, key, row)
			if err != nil {
				return 0, err
			}
			if !q.Where.Match(body.Metadata) {
				return -int(row.Size), nil
			}
			if q.Body {
				item.State, item.Metadata = body.State, body.Metadata
			}
		}
		list.Items = append(list.Items, item)
		return size, nil
	})
	list.Next = next
	return list, err
}

// bodyOf reads the body of a revision.
func bodyOf(r txn.Reader, key string, row *logpb.CheckpointRow) (*logpb.CheckpointBody, error) {
	raw, err := r.Get(kv.BodyKey(r.Scope, key, row))
	if err != nil {
		return nil, err
	}
	return DecodeBody(key, raw)
}
