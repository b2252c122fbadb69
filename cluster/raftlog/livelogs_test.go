package raftlog

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

// Deleted entries must be absent in each engine alone, without the wrappers
// that a node puts on it, before and after the engine is opened again.
func TestAnEngineDoesNotServeDeletedEntries(t *testing.T) {
	for _, kind := range []string{logStoreWAL, logStoreBolt} {
		for _, deleted := range []struct {
			name            string
			lowest, highest uint64 // of 1 to 1000
		}{
			{"prefix", 1, 900},
			{"suffix", 101, 1000},
			{"all", 1, 1000},
		} {
			t.Run(kind+"/"+deleted.name, func(t *testing.T) {
				e := &Engines{dir: t.TempDir(), kind: kind, segmentBytes: walSegmentBytes, logger: quiet}
				if err := e.open(); err != nil {
					t.Fatal(err)
				}
				if err := e.Logs.StoreLogs(commands(1, 1000)); err != nil {
					t.Fatal(err)
				}
				if err := e.Logs.DeleteRange(deleted.lowest, deleted.highest); err != nil {
					t.Fatal(err)
				}
				want := func(when string) {
					t.Helper()
					for index := uint64(1); index <= 1000; index++ {
						err := e.Logs.GetLog(index, new(raft.Log))
						if gone := deleted.lowest <= index && index <= deleted.highest; gone != errors.Is(err, raft.ErrLogNotFound) || !gone && err != nil {
							t.Fatalf("%s: entry %d: deleted: %v, GetLog: %v", when, index, gone, err)
						}
					}
				}
				want("after DeleteRange")
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				if err := e.open(); err != nil {
					t.Fatal(err)
				}
				want("after opening again")
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
