package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
	"dormouse/node"
	"dormouse/storage"
)

// wipe empties the data directory of a node that is not running.
func (w *simCluster) wipe(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.config(name).Node.DataDir); err != nil {
		w.t.Fatal(err)
	}
	delete(w.disks, name)
}

// exitCode returns the daemon's exit code for an error.
func exitCode(err error) int {
	var fault interface{ ExitCode() int }
	if !errors.As(err, &fault) {
		return 0
	}
	return fault.ExitCode()
}

func TestARestoredBackupIsANewClusterThatOthersJoinSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old := newSimCluster(t, 3)
		service := old.follower().Service()
		for i := range 20 {
			if err := put(t.Context(), service, fmt.Sprint("k", i), i+1); err != nil {
				t.Fatal(err)
			}
		}
		request := agent.Commit{
			Request: agent.Request{Client: "c", Seq: 1},
			Ops:     []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{"n":1}`)}}}},
		}
		first, err := service.Commit(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if err := old.follower().Operator().Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		// Changes of the old cluster after the backup are lost, but their numbers may be known
		// outside.
		after, err := service.Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "new"}}})
		if err != nil {
			t.Fatal(err)
		}

		next := newEmptyCluster(t)
		path := filepath.Join(next.dir, "backup")
		if err := os.WriteFile(path, backup.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Restore(t.Context(), next.config("n1"), path); err != nil {
			t.Fatal(err)
		}
		if _, err := node.Restore(t.Context(), next.config("n1"), path); exitCode(err) != 3 {
			t.Errorf("restoring over a node's data: %v, exit code %d", err, exitCode(err))
		}
		next.disks["n1"] = storage.Disk
		for i := range 3 {
			next.start(name(i))
		}
		next.settle(3)
		if was, is := old.leader().Group().ClusterID(), next.leader().Group().ClusterID(); is == was || is == "" {
			t.Errorf("the cluster's id was %q and is %q", was, is)
		}
		for i := range 20 {
			if n, err := get(t.Context(), next.follower().Service(), fmt.Sprint("k", i)); err != nil || n != i+1 {
				t.Fatalf("k%d reads %d, %v", i, n, err)
			}
		}
		again, err := next.follower().Service().Commit(t.Context(), request)
		if err != nil || again.Index != first.Index {
			t.Errorf("a request from before the backup: %+v, %v; want its first answer, of index %d", again, err, first.Index)
		}
		anew, err := next.follower().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: "new"}}})
		if err != nil {
			t.Fatal(err)
		}
		if was, is := incarnation(after), incarnation(anew); is <= was {
			t.Errorf("the new cluster gives out incarnation %d, the old one was at %d", is, was)
		}
		next.agree()
		next.crash("n1")
		next.start("n1")
		next.settle(3)
		next.agree()
	})
}

func incarnation(r agent.Result) uint64 { return r.Results[0].(*agent.ThreadResult).Thread.Incarnation }

func TestANodeThatWasRemovedStopsAndStaysOutSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		leave := func(name string) {
			t.Helper()
			victim := w.awake[name]
			if _, err := victim.Operator().Change(t.Context(), layout.ChangeLeave, name); err != nil {
				t.Fatalf("%s leaves: %v", name, err)
			}
			for _, what := range []string{"stopped", "came back"} {
				err := <-victim.done
				if !errors.Is(err, transport.ErrRemoved) || exitCode(err) != 7 {
					t.Errorf("%s %s: %v, exit code %d; want 7", name, what, err, exitCode(err))
				}
				delete(w.awake, name)
				if what == "stopped" {
					victim = w.start(name)
				}
			}
		}
		leave("n2")
		// An empty node may take its name.
		w.wipe("n2")
		w.start("n2")
		w.settle(3)
		if err := put(t.Context(), w.awake["n2"].Service(), "k", 1); err != nil {
			t.Error(err)
		}
		// The founder leads when it leaves, and knows addresses only from its own data.
		if _, err := w.awake["n3"].Operator().Change(t.Context(), layout.ChangeTransfer, "n1"); err != nil {
			t.Fatal(err)
		}
		leave("n1")
		if err := put(t.Context(), w.awake["n3"].Service(), "k", 2); err != nil {
			t.Error(err)
		}
		w.agree()
	})
}

// docs/hazards.md R1: if two nodes ever have different entries at one index, the one that differs
// from its leader must stop.
func TestAReplicaThatDivergedStopsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		if err := put(t.Context(), w.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		w.agree()
		odd := w.follower()
		m := odd.Machine()
		tick, wall := m.Stamps()
		m.Apply(&raft.Log{
			Type: raft.LogCommand, Index: w.leader().Group().LocalStatus().LastIndex + 1, Term: odd.Group().LocalStatus().Term,
			Data: m.Pack(0, 0, tick, wall, nil),
		})
		// The leader's own entry at that index. There are no writes from then on.
		if err := put(t.Context(), w.leader().Service(), "k", 2); err != nil {
			t.Fatal(err)
		}
		err := <-odd.done
		if err == nil {
			t.Fatal("it stopped without a word")
		}
		delete(w.awake, odd.name)
		// With an empty directory it gets the correct state from the others.
		w.wipe(odd.name)
		w.start(odd.name)
		w.settle(3)
		w.agree()
	})
}

func TestAWatchGoesOnThroughASnapshotThatIsInstalledSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		grow := func(n int) {
			t.Helper()
			if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: []agent.Op{
				&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(fmt.Sprintf(`{"n":%d}`, n))}}},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		grow(0)
		w.agree()
		behind := w.follower()
		var got []agent.Event
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for event, err := range behind.Service().Watch(t.Context(), agent.Watch{Thread: "t"}) {
				if err != nil {
					t.Errorf("the watch failed: %v", err)
					return
				}
				if got = append(got, event); len(got) == 201 {
					return
				}
			}
		}()
		view := behind.Machine().View()
		at := view.Index()
		w.isolate(behind.name)
		for i := range 200 {
			grow(i + 1)
		}
		for name, r := range w.awake {
			if r == behind {
				continue
			}
			if err := r.Group().CutLog(t.Context(), 1); err != nil {
				t.Fatalf("cut the log of %s: %v", name, err)
			}
		}
		w.heal()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("the watch stands still")
		}
		synctest.Wait() // an install is counted after its state is visible
		if installs := behind.Group().Stats().Installs; installs != 1 {
			t.Errorf("%d snapshots were installed, want 1", installs)
		}
		for i, event := range got {
			if event.Kind != agent.EventEntry || event.Entry.Seq != uint64(i) || string(event.Entry.Payload) != fmt.Sprintf(`{"n":%d}`, i) {
				t.Fatalf("event %d is %+v", i, event)
			}
		}
		if view.Index() != at {
			t.Errorf("an open view moved from %d to %d", at, view.Index())
		}
		if a := view.Answer(agent.DefaultScope, &agent.GetThread{Thread: "t"}); a.Err != nil || a.Found.(*agent.Thread).Rev != 1 {
			t.Errorf("an open view reads %+v", a)
		}
		view.Close()
		w.agree()
	})
}

func TestAWatchTellsDeletionAndCompactionOnAnyNodeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		do := func(ops ...agent.Op) {
			t.Helper()
			if _, err := w.leader().Service().Commit(t.Context(), agent.Commit{Ops: ops}); err != nil {
				t.Fatal(err)
			}
		}
		grow := &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}, {}}}
		for _, end := range map[string][]agent.Op{
			"deleted":           {&agent.DeleteThread{Thread: "t"}},
			"deleted and again": {&agent.DeleteThread{Thread: "t"}, grow},
		} {
			do(grow)
			events := make(chan agent.Event, 16)
			go func() {
				defer close(events)
				for event, err := range w.follower().Service().Watch(t.Context(), agent.Watch{Thread: "t", From: 2}) {
					if err != nil {
						t.Error(err)
						return
					}
					events <- event
				}
			}()
			time.Sleep(time.Second) // it watches by now
			do(end...)
			var kinds []agent.EventKind
			for event := range events {
				kinds = append(kinds, event.Kind)
			}
			if len(kinds) != 1 || kinds[0] != agent.EventDeleted {
				t.Errorf("after %v: events %v", end, kinds)
			}
			do(&agent.DeleteThread{Thread: "t"})
		}
		do(grow)
		do(&agent.CompactThread{Thread: "t", BeforeSeq: 1})
		for event, err := range w.follower().Service().Watch(t.Context(), agent.Watch{Thread: "t"}) {
			if err != nil || event.Kind != agent.EventCompacted || event.Floor != 1 {
				t.Errorf("a watch from below the floor: %+v, %v", event, err)
			}
		}
	})
}

// The voters confirm reads: these write nothing, on the leader and, once it has applied the
// committed entries, on a follower.
func TestReadsAreConfirmedByTheVotersSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		leader := w.leader()
		if err := put(t.Context(), leader.Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		w.agree()
		before := leader.Group().Stats()
		for _, r := range []*testNode{leader, w.follower()} {
			for range 10 {
				if _, err := r.Service().Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetCheckpoint{Key: "k"}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		// In a moment of virtual time little else is due.
		if after := leader.Group().Stats(); after.Rounds-before.Rounds < 20 || after.Entries-before.Entries > 5 {
			t.Errorf("20 reads took %d rounds and %d entries", after.Rounds-before.Rounds, after.Entries-before.Entries)
		}
	})
}

func TestAStaleReadSaysHowOldItMayBeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		if err := put(t.Context(), w.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		w.agree()
		stale := func(r *testNode) agent.Answers {
			t.Helper()
			a, err := r.Service().Read(t.Context(), agent.Reads{Stale: true, Reads: []agent.Read{&agent.GetCheckpoint{Key: "k"}}})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for _, cut := range []*testNode{w.follower(), w.leader()} {
			if age := stale(cut).AgeMS; age < 0 || age > 1000 {
				t.Errorf("in touch, %s says %d ms", cut.name, age)
			}
			w.isolate(cut.name)
			began := time.Now()
			for range 10 {
				time.Sleep(time.Second)
				// A leader without contact to others detects that within its lease.
				least := time.Since(began) - 2*time.Second
				if age := stale(cut).AgeMS; age < least.Milliseconds() {
					t.Errorf("%v after the cut, %s says %d ms", time.Since(began), cut.name, age)
				}
			}
			w.heal()
			w.settle(3)
		}
	})
}
