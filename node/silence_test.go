package node_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/config"
)

// The bounds that the timing lan promises.
const (
	silentMax = 1500 * time.Millisecond // from the last word of a leader to the next acknowledged write
	ownerMax  = 2 * time.Second         // from the death of an owner to the answer to a signal
)

// rounds returns how often a test repeats what it measures: n times, or twice under the race detector, for
// which the times do not matter.
func rounds(n int) int {
	if raceDetector {
		return 2
	}
	return n
}

// write writes with a client until it is acknowledged.
func write(t *testing.T, c *client.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := put(ctx, c, "k", n); err != nil {
		t.Error(err)
	}
}

// A leader's machine vanishes without a word: a client of a follower and a client of the leader itself
// write again in time.
func TestAClientWritesSoonAfterALeaderFellSilentSim(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for range rounds(10) {
		synctest.Test(t, func(t *testing.T) {
			w := newSimCluster(t, 3)
			for _, ofLeader := range []bool{true, false} {
				old, names := w.leader(), []string{w.leader().name, w.follower().name}
				if !ofLeader {
					slices.Reverse(names)
				}
				c := w.dial(t, false, names...)
				write(t, c, 1)
				began := w.cutTheLeader()
				w.links.Isolate(old.name, "client")
				write(t, c, 2)
				took := time.Since(began)
				if all = append(all, took); took > silentMax {
					t.Errorf("a client of %v wrote after %v", names, took)
				}
				w.heal()
				w.settle(3)
			}
			w.agree()
		})
	}
	slices.Sort(all)
	t.Logf("median %v, slowest %v", all[len(all)/2], all[len(all)-1])
}

// The owner of an instance dies: its process is killed, or its machine vanishes without a word. The first
// answer to a signal comes in time, from another node, and no entry is lost or doubled.
func TestASignalIsAnsweredSoonAfterItsOwnerDiedSim(t *testing.T) {
	for name, die := range map[string]func(s *instanceCluster, owner *testNode) (back func()){
		"killed": func(s *instanceCluster, owner *testNode) func() {
			ended := make(chan struct{})
			s.killed9(owner, ended)
			return func() { <-ended }
		},
		"silent": func(s *instanceCluster, owner *testNode) func() {
			s.isolate(owner.name)
			return s.heal
		},
	} {
		for _, leads := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " leader"}[leads], func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newInstanceCluster(t, 3, 24)
					owner := s.follower()
					if leads {
						owner = s.leader()
					}
					s.keys = []string{s.keyOf(owner)}
					through := s.other(owner)
					time.Sleep(5 * time.Second) // no lease is young
					back := die(s, owner)
					began := time.Now()
					reply := s.signal(through.name, s.keys[0])
					if took := time.Since(began); took > ownerMax {
						t.Errorf("the answer came after %v", took)
					} else {
						t.Logf("the answer came after %v", took)
					}
					if reply.Node == owner.name {
						t.Errorf("%s answers", reply.Node)
					}
					s.whole(through.name)
					back()
				})
			})
		}
	}
}

// A leader falls silent: the other owners hold their leases as soon as another leads, and nothing of theirs
// moves. What the silent one owned moves once its own lease has lapsed for it.
func TestOwnersGoOnWhenALeaderFallsSilentSim(t *testing.T) {
	t.Parallel()
	for range rounds(5) {
		synctest.Test(t, func(t *testing.T) {
			w := newPlacedCluster(t, 3)
			w.settled("n1", "n2", "n3")
			time.Sleep(5*time.Second + time.Duration(rand.IntN(500))*time.Millisecond)
			silent := w.leader()
			seen := make([]uint64, layout.Partitions)
			owned := map[string][]int{}
			for name, r := range w.awake {
				for _, p := range r.own() {
					owned[name] = append(owned[name], p.ID)
				}
			}
			w.isolate(silent.name)
			var led time.Time // when another was first seen to lead
			for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(20 * time.Millisecond) {
				w.believers(seen)
				for name, r := range w.awake {
					if name == silent.name {
						continue
					}
					if led.IsZero() && r.Group().IsLeader() {
						led = time.Now()
					}
					if late := time.Since(led); !led.IsZero() && late > 100*time.Millisecond && !time.Now().Before(r.Group().Partitions().LeaseUntil()) {
						t.Fatalf("%v after another leads, %s holds no lease", late, name)
					}
				}
			}
			for name, partitions := range owned {
				if name == silent.name {
					continue
				}
				for _, n := range partitions {
					if p := w.awake[name].Machine().Partition(n); p.Owner != name {
						t.Fatalf("partition %d of %s moved: %+v", n, name, p)
					}
				}
			}
			w.heal()
			w.even("n1", "n2", "n3")
			w.believers(seen)
		})
	}
}

// A leader that is replaced, and lives, keeps what it owns: it renews its lease at the next one.
func TestALeaderThatIsReplacedAndLivesOwnsWhatItOwnedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		for range 10 {
			time.Sleep(5 * time.Second)
			old := w.leader()
			epochs := epochsOf(old)
			w.isolate(old.name)
			time.Sleep(time.Second)
			w.heal()
			time.Sleep(5 * time.Second)
			if w.leader() == old {
				t.Fatal("the leader was not replaced")
			}
			if !slices.Equal(epochsOf(w.leader()), epochs) {
				t.Fatalf("partitions moved after %s was replaced", old.name)
			}
		}
	})
}

// other returns a running node that is not the given one.
func (w *simCluster) other(than *testNode) *testNode {
	for i := range 9 {
		if r := w.awake[name(i)]; r != nil && r != than {
			return r
		}
	}
	w.t.Fatal("no other node is up")
	return nil
}

// killed9 ends a node as kill -9 does: the system closes its connections, and its ports refuse others.
func (w *simCluster) killed9(r *testNode, ended chan<- struct{}) {
	delete(w.awake, r.name)
	w.isolate(r.name)
	w.links.Crash(r.name)
	w.links.HealAll()
	go func() {
		defer close(ended)
		time.Sleep(2 * time.Millisecond) // the others' connections end
		w.isolate(r.name)
		w.links.Crash(r.name)
		r.stop()
		if err := <-r.done; err != nil {
			w.t.Logf("%s ended with: %v", r.name, err) // such as that its listeners are gone
		}
		w.heal()
	}()
}

// Nodes that stop for 300 ms, one at a time or all together, hold no election and lose no partition.
func TestPausesMoveNothingSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		w.settled("n1", "n2", "n3")
		time.Sleep(time.Minute)
		leader := w.leader()
		term, epochs := leader.Group().LocalStatus().Term, epochsOf(leader)
		for i := range 100 {
			stopped := []string{name(i % 3)}
			if i%4 == 3 {
				stopped = []string{"n1", "n2", "n3"}
			}
			for _, name := range stopped {
				w.isolate(name)
			}
			time.Sleep(300 * time.Millisecond)
			w.heal()
			time.Sleep(time.Duration(700+i*7) * time.Millisecond)
			if now := leader.Group().LocalStatus().Term; now != term {
				t.Fatalf("term %d follows %d, when %v stopped", now, term, stopped)
			}
		}
		if !slices.Equal(epochsOf(leader), epochs) {
			t.Error("partitions moved")
		}
	})
}

func epochsOf(r *testNode) []uint64 {
	var epochs []uint64
	for _, p := range r.Machine().Partitions() {
		epochs = append(epochs, p.Epoch)
	}
	return epochs
}

// Nodes of one cluster that have different timings elect, write and own partitions, and none holds an
// election for it.
func TestNodesOfDifferentTimingsWorkTogetherSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.lease = config.TimingOf(config.TimingLAN).Lease
		for i, timing := range []string{config.TimingLAN, config.TimingWAN, config.TimingLAN} {
			w.timing = timing
			w.start(name(i))
		}
		w.settle(3)
		leader := w.leader()
		term := leader.Group().LocalStatus().Term
		for range 60 {
			time.Sleep(time.Second)
			if err := put(t.Context(), w.follower().Service(), "k", 1); err != nil {
				t.Fatal(err)
			}
		}
		if now := leader.Group().LocalStatus().Term; now != term {
			t.Errorf("term %d follows %d", now, term)
		}
		w.crash(leader.name)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := put(ctx, w.leader().Service(), "k", 2); err != nil {
			t.Fatal(err)
		}
	})
}

// With the timing wan and a round trip of 300 ms, nodes that stop for a second hold no election, and a
// silent leader is replaced within seconds.
func TestTheTimingWANToleratesRoundTripsOf300MsSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 0)
		w.timing = config.TimingWAN
		for i := range 3 {
			for j := range 3 {
				if i != j {
					w.links.Delay(name(i), name(j), 150*time.Millisecond)
				}
			}
		}
		w.found(3)
		leader := w.leader()
		term := leader.Group().LocalStatus().Term
		for i := range 60 {
			time.Sleep(5 * time.Second)
			w.isolate(name(i % 3))
			time.Sleep(time.Second)
			w.heal()
			if now := leader.Group().LocalStatus().Term; now != term {
				t.Fatalf("term %d follows %d, when %s stopped", now, term, name(i%3))
			}
		}
		time.Sleep(5 * time.Second)
		follower := w.follower()
		began := w.cutTheLeader()
		w.await("another leader", func() bool { return follower.Group().IsLeader() || w.leader() != leader })
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("another led after %v", took)
		} else {
			t.Logf("another led after %v", took)
		}
	})
}
