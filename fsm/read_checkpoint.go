package fsm

import (
	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

func readCheckpoint(r reader, q *agent.GetCheckpoint) (agent.Found, error) {
	checkpoint, err := checkpointAt(r, q.Key, q.Revision)
	if err != nil {
		return nil, err
	}
	return checkpoint, nil
}

// checkpointAt is a checkpoint at a revision that is kept; 0 is the current.
func checkpointAt(r reader, key string, revision uint64) (*agent.Checkpoint, error) {
	row, err := currentCheckpoint(r, key)
	if err != nil {
		return nil, err
	}
	if revision != 0 && revision != row.Revision {
		if row, err = olderCheckpoint(r, key, row, revision); err != nil {
			return nil, err
		}
	}
	raw, err := r.Get(kv.BodyKey(r.scope, key, row))
	if err != nil {
		return nil, err
	}
	body, err := decodeCheckpointBody(key, raw)
	if err != nil {
		return nil, err
	}
	return &agent.Checkpoint{
		Key: key, Incarnation: row.Incarnation, Revision: row.Revision, Version: row.Version,
		State: body.State, Thread: command.DecodePointer(row.Thread), Lifecycle: row.Lifecycle, Metadata: body.Metadata,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}, nil
}

func currentCheckpoint(r reader, key string) (*logpb.CheckpointRow, error) {
	raw, err := r.Get(kv.IDKey(kv.KindCheckpoint, r.scope, key))
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, notFound("checkpoint", key)
	}
	row, err := command.DecodeCheckpointRow(key, raw)
	if err != nil {
		return nil, err
	}
	if expired(row.ExpiresAt, r.progress.wall) {
		return nil, notFound("checkpoint", key)
	}
	return row, nil
}

func olderCheckpoint(r reader, key string, current *logpb.CheckpointRow, revision uint64) (*logpb.CheckpointRow, error) {
	row, err := olderRevisionOf(r, key, current, revision)
	if err == nil && row == nil {
		err = notKeptNow(r, key, current, revision)
	}
	return row, err
}

// notKeptNow says which revisions of a checkpoint there are instead.
func notKeptNow(r reader, key string, current *logpb.CheckpointRow, revision uint64) error {
	list, err := readHistory(r, &agent.CheckpointHistory{Key: key})
	if err != nil {
		return err
	}
	oldest := current.Revision
	if items := list.(*agent.CheckpointList).Items; len(items) > 0 { //nolint:forcetypeassert // history answers with nothing else
		oldest = items[len(items)-1].Revision
	}
	return notKept(key, revision, oldest, current.Revision)
}

// notKept refuses a revision of a checkpoint that is not there, or no more.
func notKept(key string, revision, oldest, newest uint64) *agent.Error {
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

func readCheckpoints(r reader, q *agent.ListCheckpoints) (agent.Found, error) {
	list := &agent.CheckpointList{}
	next, err := r.eachInPage(kv.ScopeKey(kv.KindCheckpoint, r.scope), q.Page, func(key string, raw []byte) (int, error) {
		row, err := command.DecodeCheckpointRow(key, raw)
		if err != nil || expired(row.ExpiresAt, r.progress.wall) {
			return 0, err
		}
		list.Items = append(list.Items, checkpointRow(key, row))
		return len(key) + len(raw), nil
	})
	list.Next = next
	return list, err
}
