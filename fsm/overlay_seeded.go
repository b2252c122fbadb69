package fsm

import "dormouse/storage"

// showCheckpoints writes the entry's checkpoints ahead of all else, for
// seededbug.HalfACommitVisible.
func (o *overlay) showCheckpoints(engine *storage.Engine) error {
	early := engine.NewBatch()
	defer early.Close()
	for key, c := range o.rows {
		if kind := key[:1]; c.value != nil && (kind == kindCheckpoint || kind == kindCheckpointBody) {
			early.Set([]byte(key), c.value)
		}
	}
	return engine.Commit(early)
}
