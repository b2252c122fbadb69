package kv

import "dormouse/storage"

// ShowCheckpoints writes the entry's checkpoints before all other rows, for
// seededbug.HalfACommitVisible.
func (o *Overlay) ShowCheckpoints(engine *storage.Engine) error {
	early := engine.NewBatch()
	defer early.Close()
	for key, c := range o.rows {
		switch kind := key[:1]; {
		case kind != KindCheckpoint && kind != KindCheckpointBody:
		case c.message != nil:
			early.SetEncoded(key, c.message)
		case c.value != nil:
			early.Set([]byte(key), c.value)
		}
	}
	return engine.Commit(early)
}
