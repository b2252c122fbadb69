package fsm_test

import (
	"errors"
	"strings"
	"testing"

	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// A node whose version was lowered does not apply entries to a state that newer rules have written:
// it would decide otherwise than the other replicas.
func TestAStateAtAHigherFeatureLevelIsRefused(t *testing.T) {
	h := makeHistory(t, 31, 5)
	fs := storage.MemFS()
	p := openPeer(t, fs)
	p.apply(t, h.entries...)
	p.close(t)
	for level, foreign := range map[uint32]bool{fsm.FeatureLevelMax: false, fsm.FeatureLevelMax + 1: true} {
		writeLevel(t, fs, level)
		machine, err := tryOpen(fs, "m", cluster)
		if foreign != errors.Is(err, storage.ErrForeign) || foreign && !strings.Contains(err.Error(), "newer version") {
			t.Errorf("level %d: %v", level, err)
		}
		if err == nil {
			if err := machine.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// writeLevel writes a feature level into the engine of the machine in m, which is closed.
func writeLevel(t *testing.T, fs storage.FS, level uint32) {
	t.Helper()
	current, err := storage.ReadFile(fs, "m/CURRENT", 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := storage.Open("m/"+strings.TrimSpace(string(current)), storage.Options{FS: fs, Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	b := engine.NewBatch()
	b.Set([]byte(kv.KindSystem+"level"), []byte(kv.EncodeNumber(uint64(level))))
	if err := errors.Join(engine.Commit(b), engine.Flush(), engine.Close()); err != nil {
		t.Fatal(err)
	}
	b.Close()
}
