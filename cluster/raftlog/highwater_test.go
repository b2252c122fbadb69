package raftlog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// crashImage is what a crash leaves of dir: the files as they are, without the
// orderly end that Close makes.
func crashImage(t *testing.T, dir string) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return image
}

// segment is the raft-wal file in dir that holds text, and where.
func segment(t *testing.T, dir, text string) (path string, raw []byte, at int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "wal", "*.wal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(raw, []byte(text)); at >= 0 {
			return path, raw, at
		}
	}
	t.Fatalf("no segment in %s holds %q", dir, text)
	return "", nil, 0
}

// The damages of raft-wal's tail that it takes for a write torn by a crash, without
// an error (docs/hazards.md, S2).
var tailDamages = map[string]func(t *testing.T, dir, from string){
	"truncated": func(t *testing.T, dir, from string) {
		t.Helper()
		path, _, at := segment(t, dir, from)
		if err := os.Truncate(path, int64(at)); err != nil {
			t.Fatal(err)
		}
	},
	"zeroed": func(t *testing.T, dir, from string) {
		t.Helper()
		path, raw, at := segment(t, dir, from)
		clear(raw[at-16:])
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"deleted": func(t *testing.T, dir, from string) {
		t.Helper()
		path, _, _ := segment(t, dir, from)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	},
}

func TestALostTailOfTheLogTakesTheVoteAway(t *testing.T) {
	for name, damage := range tailDamages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := mustDiskStores(t, dir, "")
			for _, log := range commands(1, 200) {
				if err := s.Logs.StoreLog(log); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Mark.Save(); err != nil {
				t.Fatal(err)
			}
			image := crashImage(t, dir)
			damage(t, image, "payload of entry 000190")
			s, e := mustDiskStores(t, image, "")
			last, err := s.Logs.LastIndex()
			if err != nil || last >= 200 {
				t.Fatalf("the log ends at %d, %v: nothing was damaged", last, err)
			}
			if s.MayVote() || s.MayStand() {
				t.Errorf("the log ends at %d of 200 acknowledged entries, and the node votes", last)
			}
			if err := s.Stable.SetUint64([]byte(keyLastVoteTerm), 5); err == nil {
				t.Error("a vote was saved")
			}
			if err := s.Stable.SetUint64([]byte(KeyCurrentTerm), 5); err != nil {
				t.Errorf("a term could not be saved: %v", err)
			}
			if err := s.Logs.StoreLogs(commands(last+1, 199)); err != nil {
				t.Fatal(err)
			}
			if s.MayVote() {
				t.Error("the node votes one entry early")
			}
			if err := s.Logs.StoreLogs(commands(200, 200)); err != nil {
				t.Fatal(err)
			}
			if !s.MayVote() {
				t.Error("the node does not vote though it has caught up")
			}
			if err := s.Stable.SetUint64([]byte(keyLastVoteTerm), 5); err != nil {
				t.Errorf("a vote could not be saved: %v", err)
			}
			if errs := e.reasons(); len(errs) > 0 {
				t.Errorf("the node was ended: %v", errs)
			}
		})
	}
}

// Within the lag the mark cannot tell: these entries are lost as a torn write
// would be, whether they were acknowledged or not.
func TestATornWriteAboveTheMarkIsNoDamage(t *testing.T) {
	for _, name := range []string{"truncated", "zeroed"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := mustDiskStores(t, dir, "")
			for _, log := range commands(1, 190) {
				if err := s.Logs.StoreLog(log); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Mark.Save(); err != nil {
				t.Fatal(err)
			}
			if err := s.Logs.StoreLogs(commands(191, 200)); err != nil {
				t.Fatal(err)
			}
			image := crashImage(t, dir)
			tailDamages[name](t, image, "payload of entry 000195")
			s, _ = mustDiskStores(t, image, "")
			if last, err := s.Logs.LastIndex(); err != nil || last != 190 {
				t.Errorf("the log ends at %d, %v; want 190: the torn batch goes whole", last, err)
			}
			if !s.MayVote() {
				t.Error("the node does not vote")
			}
		})
	}
}

// lostLog is a directory whose log was closed in order and then deleted.
func lostLog(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, _ := mustDiskStores(t, dir, "")
	if err := s.Logs.StoreLogs(commands(1, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tailDamages["deleted"](t, dir, "payload of entry 000010")
	return dir
}

func TestAnOrderlyEndLeavesNoLag(t *testing.T) {
	dir := lostLog(t)
	s, _ := mustDiskStores(t, dir, "")
	if s.MayVote() {
		t.Error("the whole log is gone, and the node votes")
	}
}

func TestTheOperatorMayAcceptTheDamage(t *testing.T) {
	dir := lostLog(t)
	s, _, err := diskStores(t, dir, "", func(o *Options) { o.AcceptDamage = true })
	if err != nil || !s.MayVote() {
		t.Fatalf("accepted, and may vote: %v, %v", s.MayVote(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, _ = mustDiskStores(t, dir, ""); !s.MayVote() {
		t.Error("the damage had to be accepted once, and is asked for again")
	}
}

func TestTheMarkGoesDownBeforeTheLogDoes(t *testing.T) {
	s, engine, _ := ailingStores(t)
	if err := s.Logs.StoreLogs(commands(4, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark.Save(); err != nil {
		t.Fatal(err)
	}
	engine.order = nil
	if err := s.Logs.DeleteRange(6, 10); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(engine.order), "[set dormouse/high-water delete 6-10]"; got != want {
		t.Errorf("the disk was asked to %v, want %v", got, want)
	}
	mark, err := s.Stable.GetUint64(keyHighWater)
	if err != nil || mark != 5 {
		t.Errorf("the mark is %d, %v; want 5", mark, err)
	}
}

func TestOnlyTheTailMovesTheMark(t *testing.T) {
	for _, c := range []struct {
		name            string
		snapshot        uint64
		lowest, highest uint64
		want            uint64
	}{
		{"a prefix", 0, 1, 4, 10},
		{"a suffix", 0, 6, 10, 5},
		{"everything", 0, 1, 10, 0},
		{"everything, for a snapshot ahead of it", 30, 1, 10, 30},
		{"everything, for a snapshot inside: the rest stays", 5, 1, 10, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := &snapshotAt{}
			s, err := storesWith(t, at, entries(1, 1, 10))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Mark.Save(); err != nil {
				t.Fatal(err)
			}
			at.index, at.term = c.snapshot, 1
			s.Newest.expire()
			if err := s.Logs.DeleteRange(c.lowest, c.highest); err != nil {
				t.Fatal(err)
			}
			if err := s.Mark.Save(); err != nil {
				t.Fatal(err)
			}
			if got := s.Mark.Mark.Load(); got != c.want {
				t.Errorf("the mark is %d, want %d", got, c.want)
			}
		})
	}
}

func TestTheMarkLagsBySecondsOrEntriesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := storesWith(t, &snapshotAt{}, entries(1, 1, 10))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(markEvery + time.Millisecond)
		synctest.Wait()
		if got := s.Mark.Mark.Load(); got != 10 {
			t.Errorf("a second later the mark is %d, want 10", got)
		}
		if err := s.Logs.StoreLogs(entries(1, 11, 10+markEntries)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // and no time passes
		if got := s.Mark.Mark.Load(); got != 10+markEntries {
			t.Errorf("after %d entries the mark is %d", markEntries, got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestADiskThatTakesNoWritesIsFoundAtTheStart(t *testing.T) {
	engine := &ailing{InmemStore: raft.NewInmemStore(), fail: os.ErrPermission}
	_, err := StackStores(Options{Logger: quiet}, &Engines{Logs: engine, Stable: engine})
	if err == nil || !strings.Contains(err.Error(), "does not accept writes") {
		t.Errorf("got %v", err)
	}
}
