package fsm

import (
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// What seeded bugs need beyond a line. Nothing here is in a program without
// the build tag seeded.

// spoil makes an engine what its snapshot would be, had that been made wrong:
// for seededbug.DedupeLostInSnapshot and seededbug.SnapshotRunsAhead.
func spoil(engine *storage.Engine, header *logpb.SnapshotHeader) error {
	b := engine.NewBatch()
	defer b.Close()
	if seededbug.Is(seededbug.DedupeLostInSnapshot) {
		for _, kind := range []string{kv.KindClient, kv.KindAnswers} {
			b.DeleteRange([]byte(kind), []byte(kv.After(kind)))
		}
	} else {
		header.Index++
		headerProgress(header).Write(b)
	}
	return engine.Commit(b)
}
