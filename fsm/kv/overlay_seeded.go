package kv

import "dormouse/storage"

// ShowCheckpoints writes the entry's checkpoints before all other rows, for
// seededbug.HalfACommitVisible.
func (o *Overlay) ShowCheckpoints(engine *storage.Engine) error {
	early := engine.NewBatch()
	defer early.Close()
	for i := range o.rows {
		c := &o.rows[i]
		switch kind := c.key[:1]; {
		case kind != KindCheckpoint && kind != KindCheckpointBody:
		case c.message != nil:
			early.SetEncoded(c.key, c.message)
		case c.value != nil:
			early.Set([]byte(c.key), c.value)
		}
	}
	return engine.Commit(early)
}
