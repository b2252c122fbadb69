package kv

import "dormouse/storage"

// ShowCheckpoints writes the entry's checkpoints before all other rows, for
// seededbug.HalfACommitVisible.
func (o *Overlay) ShowCheckpoints(engine *storage.Engine) error {
	early := engine.NewBatch()
	defer early.Close()
	for key, c := range o.rows {
		if kind := key[:1]; c.value != nil && (kind == KindCheckpoint || kind == KindCheckpointBody) {
			early.Set([]byte(key), c.value)
		}
	}
	return engine.Commit(early)
}
