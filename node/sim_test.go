package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// These tests run whole clusters in virtual time, with real parts on a network in memory.
// Scheduling stays random, so `make sim` runs each many times.

func TestThreeNodesServeThroughAnyNodeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		for i := range 30 {
			through := w.awake[name(i%3)]
			if err := put(t.Context(), through.Service(), "k", i+1); err != nil {
				t.Fatalf("put %d through %s: %v", i, through.name, err)
			}
			for _, r := range w.awake {
				if n, err := get(t.Context(), r.Service(), "k"); err != nil || n != i+1 {
					t.Fatalf("after put %d, %s reads %d, %v", i+1, r.name, n, err)
				}
			}
		}
		w.agree()
	})
}

func TestALostLeaderLosesNothingAcknowledgedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		for i := range 20 {
			if err := put(t.Context(), w.awake[name(i%3)].Service(), fmt.Sprint("k", i), i+1); err != nil {
				t.Fatal(err)
			}
		}
		lost := w.leader().name
		w.crash(lost)
		began := time.Now()
		if err := put(t.Context(), w.leader().Service(), "after", 1); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("writes came back only after %v", took)
		}
		w.start(lost)
		w.await(lost+" to serve", func() bool { return w.awake[lost].Ready() == nil })
		for i := range 20 {
			if n, err := get(t.Context(), w.awake[lost].Service(), fmt.Sprint("k", i)); err != nil || n != i+1 {
				t.Fatalf("k%d reads %d, %v", i, n, err)
			}
		}
		w.agree()
	})
}

func TestAMinoritySaysItCannotTellSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		if err := put(t.Context(), w.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		cut := w.leader()
		w.isolate(cut.name)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := put(ctx, cut.Service(), "k", 2); err == nil {
			t.Error("a leader without a majority acknowledged a write")
		}
		w.await("another leader", func() bool {
			for _, r := range w.awake {
				if r != cut && r.Group().IsLeader() {
					return put(t.Context(), r.Service(), "k", 3) == nil
				}
			}
			return false
		})
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if n, err := get(ctx, cut.Service(), "k"); err == nil {
			t.Errorf("a node without a majority answered %d", n)
		} else if code := agent.CodeOf(err); code != agent.CodeUnavailable {
			t.Errorf("a read that cannot be served is %v, want unavailable", err)
		}
		stale, err := cut.Service().Read(t.Context(), agent.Reads{Stale: true, Reads: []agent.Read{&agent.GetCheckpoint{Key: "k"}}})
		if err != nil || stale.Answers[0].Err != nil {
			t.Errorf("a stale read there: %v, %v", stale, err)
		}
		w.heal()
		w.await("the cut node to serve again", func() bool { return cut.Ready() == nil })
		if n, err := get(t.Context(), cut.Service(), "k"); err != nil || n != 3 && n != 2 {
			t.Errorf("after healing it reads %d, %v", n, err)
		}
		w.agree()
	})
}

func TestAWholeClusterWakesWhereItLeftOffSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		for i := range 50 {
			if err := put(t.Context(), w.leader().Service(), fmt.Sprint("k", i), i+1); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			w.crash(name(i))
		}
		for i := range 3 {
			w.start(name(i))
		}
		for i := range 3 {
			w.await("all to serve", func() bool { return w.awake[name(i)].Ready() == nil })
		}
		for i := range 50 {
			if n, err := get(t.Context(), w.follower().Service(), fmt.Sprint("k", i)); err != nil || n != i+1 {
				t.Fatalf("k%d reads %d, %v", i, n, err)
			}
		}
		w.agree()
	})
}

func TestAFollowerFarBehindIsSentASnapshotSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		behind := w.follower().name
		w.crash(behind)
		for i := range 200 {
			if err := put(t.Context(), w.leader().Service(), fmt.Sprint("k", i%20), i+1); err != nil {
				t.Fatal(err)
			}
		}
		for name, r := range w.awake {
			if err := r.Group().CutLog(t.Context(), 1); err != nil {
				t.Fatalf("cut the log of %s: %v", name, err)
			}
		}
		r := w.start(behind)
		// A snapshot counts once Raft has answered the leader, and the node may be ready just before.
		w.await(behind+" to have a snapshot", func() bool { return r.Group().Stats().Installs > 0 })
		w.await(behind+" to serve", func() bool { return r.Ready() == nil })
		if installs := r.Group().Stats().Installs; installs != 1 {
			t.Errorf("%d snapshots were installed, want 1", installs)
		}
		for i := 180; i < 200; i++ {
			if n, err := get(t.Context(), r.Service(), fmt.Sprint("k", i%20)); err != nil || n != i+1 {
				t.Fatalf("k%d reads %d, %v", i%20, n, err)
			}
		}
		w.agree()
	})
}

// hashicorp/raft waits longer before each attempt to reach a follower, up to 10 s, and does not
// check whether the follower has returned meanwhile.
func TestANodeThatWasAwayIsCaughtUpAtOnceSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		away := w.follower().name
		w.crash(away)
		for i := range 96 {
			if err := put(t.Context(), w.leader().Service(), "k", i+1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		r := w.start(away)
		began := time.Now()
		want := w.leader().Machine().Applied()
		w.await(away+" to catch up", func() bool { return r.Machine().Applied() >= want })
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Raft's next entries for a follower that left are old when it returns; later writes must not be
// sent slowly.
func TestANodeThatMissedThousandsOfEntriesIsCaughtUpAtOnceSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		away := w.follower().name
		w.crash(away)
		for i := range 2000 {
			if err := put(t.Context(), w.leader().Service(), "k", i+1); err != nil {
				t.Fatal(err)
			}
		}
		r := w.start(away)
		began := time.Now()
		want := w.leader().Machine().Applied()
		w.await(away+" to catch up", func() bool { return r.Machine().Applied() >= want })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Raft's calls to nodes that are down must not delay the stop of a node.
func TestTheLastNodeOfAClusterStopsAtOnceSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		last := w.leader().name
		for i := range 3 {
			if name(i) != last {
				w.crash(name(i))
			}
		}
		time.Sleep(100 * time.Millisecond) // it still leads, and dials
		began := time.Now()
		w.sleep(last)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A follower learns that an entry is committed with the next one: a read that waits for that must
// not wait for raft's idle heartbeats.
func TestAReadOnAFollowerOfAQuietClusterIsPromptSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		if err := put(t.Context(), w.leader().Service(), "k", 1); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			for _, r := range w.awake {
				time.Sleep(10 * time.Second)
				began := time.Now()
				if n, err := get(t.Context(), r.Service(), "k"); err != nil || n != 1 {
					t.Fatalf("%s reads %d, %v", r.name, n, err)
				}
				if took := time.Since(began); took > 20*time.Millisecond { // the first one connects
					t.Errorf("%s took %v", r.name, took)
				}
			}
		}
		w.agree()
	})
}

// The same for a client that writes on a follower, and then reads there by the index of its write.
func TestAFollowerOfAQuietClusterSoonHasWhatWasWrittenThroughItSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		for range 5 {
			for _, r := range w.awake {
				time.Sleep(10 * time.Second)
				commit := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("x")}}}
				result, err := r.Service().Commit(t.Context(), commit)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				read := agent.Reads{Stale: true, MinIndex: result.Index, Reads: []agent.Read{&agent.GetValue{Key: "v"}}}
				if _, err := r.Service().Read(t.Context(), read); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 20*time.Millisecond { // the first one connects
					t.Errorf("%s has it after %v", r.name, took)
				}
			}
		}
		w.agree()
	})
}
