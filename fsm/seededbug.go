package fsm

import (
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
	"dormouse/proto/snapfile"
	"dormouse/storage"
)

// Code of seeded bugs that needs more than one line. It is only compiled with the build tag seeded.

// falsify changes an engine as if its snapshot had been made wrong: for
// seededbug.DedupeLostInSnapshot and seededbug.SnapshotRunsAhead.
func falsify(engine *storage.Engine, header *snapfile.SnapshotHeader) error {
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
