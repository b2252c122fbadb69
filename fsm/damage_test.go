package fsm_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"dormouse/storage"
)

// A state whose files were moved away is reported as damaged, and never treated as a new one.
func TestADirectoryThatLostItsStateIsDamaged(t *testing.T) {
	h := makeHistory(t, 28, 20)
	for name, damage := range map[string]func(fs storage.FS, engine string) error{
		"CURRENT is gone":         func(fs storage.FS, _ string) error { return fs.Remove("m/CURRENT") },
		"CURRENT is empty":        func(fs storage.FS, _ string) error { return storage.WriteFile(fs, "m/CURRENT", nil) },
		"CURRENT names another":   func(fs storage.FS, _ string) error { return storage.WriteFile(fs, "m/CURRENT", []byte("engine-9-9\n")) },
		"CURRENT names no engine": func(fs storage.FS, _ string) error { return storage.WriteFile(fs, "m/CURRENT", []byte("snapshots\n")) },
		"the engine is elsewhere": func(fs storage.FS, engine string) error { return fs.Rename(engine, "m/moved") },
	} {
		t.Run(name, func(t *testing.T) {
			fs := storage.MemFS()
			p := openPeer(t, fs)
			p.apply(t, h.entries...)
			p.snapshot(t, h.last(), 1)
			p.close(t)
			current, err := storage.ReadFile(fs, "m/CURRENT", 1<<10)
			if err != nil {
				t.Fatal(err)
			}
			engine := "m/" + string(current[:len(current)-1])
			if err := damage(fs, engine); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second attempt does not repair it
				if _, err := tryOpen(fs, "m", cluster); !errors.Is(err, storage.ErrDamaged) {
					t.Fatalf("got %v, want it damaged", err)
				}
			}
			// The open did not change the rest: with the files put back, the state is complete.
			if _, err := fs.Stat("m/moved"); err == nil {
				if err := errors.Join(fs.RemoveAll(engine), fs.Rename("m/moved", engine)); err != nil {
					t.Fatal(err)
				}
			}
			if err := storage.WriteFile(fs, "m/CURRENT", current); err != nil {
				t.Fatal(err)
			}
			p = openPeer(t, fs)
			if p.Applied() != h.last() {
				t.Errorf("the state is at %d, want %d", p.Applied(), h.last())
			}
			wantHash(t, "with all of it in place again", p, h)
		})
	}
}

// The power fails at every operation of a first start. The next start never reports damage.
func TestAFirstStartThatWasCutShortIsNoDamage(t *testing.T) {
	const least = 10 // operations of a first start
	for crashes := 1; ; crashes++ {
		rng := rand.New(rand.NewPCG(uint64(crashes), 4))
		mem := storage.CrashableMemFS()
		var mu sync.Mutex // the engine works in the background too
		var crashed *storage.CrashFS
		count := 0
		p := openPeer(t, storage.Faulty(mem, func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if count++; count == crashes {
				c := mem.Crash(rng, rng.IntN(3)*50)
				crashed = &c
			}
			return nil
		}))
		p.close(t)
		if crashed == nil {
			if crashes < least {
				t.Errorf("only %d crashes", crashes)
			}
			return
		}
		after, err := tryOpen(*crashed, "m", cluster)
		if err != nil {
			t.Fatalf("after a crash at operation %d: %v", crashes, err)
		}
		after.close(t)
	}
}
