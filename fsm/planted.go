package fsm

import (
	"dormouse/internal/planted"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// What planted bugs need beyond a line. Nothing here is in a program without
// the build tag seeded.

// inMapOrder is 0 or 1, by the order of a map: what planted.MapOrder lets into
// the state.
func inMapOrder() uint64 {
	for n := range map[uint64]bool{0: true, 1: true} {
		return n
	}
	return 0
}

// showCheckpoints writes the entry's checkpoints ahead of all else, for
// planted.HalfACommitVisible.
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

// spoil makes an engine what its snapshot would be, had that been made wrong:
// for planted.DedupeLostInSnapshot and planted.SnapshotRunsAhead.
func spoil(engine *storage.Engine, header *logpb.SnapshotHeader) error {
	b := engine.NewBatch()
	defer b.Close()
	if planted.Is(planted.DedupeLostInSnapshot) {
		for _, kind := range []string{kindClient, kindAnswers} {
			b.DeleteRange([]byte(kind), []byte(after(kind)))
		}
	} else {
		header.Index++
		headerProgress(header).write(b)
	}
	return engine.Commit(b)
}
