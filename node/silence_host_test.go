package node_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// hostPauseMax is how long after another node leads a host may hold no lease, since the leader before
// fell silent.
const hostPauseMax = 700 * time.Millisecond

// A leader falls silent: a host whose renewal waits for it, or that follows the table at it, holds its
// lease again soon after another leads, and loses no partition.
func TestHostsGoOnWhenALeaderFallsSilentSim(t *testing.T) {
	t.Parallel()
	var all []time.Duration
	for range rounds(12) {
		synctest.Test(t, func(t *testing.T) {
			w := newPlacedCluster(t, 3)
			h := w.startHost("h1", recordingHandlers("tally", 1))
			w.await("the host to own a share", func() bool { return len(h.Owned()) > 900 })
			time.Sleep(5*time.Second + time.Duration(rand.IntN(500))*time.Millisecond)
			silent, owned := w.leader(), h.Owned()
			w.isolate(silent.name)
			w.links.Isolate(silent.name, "h1")
			var led, lapsed time.Time // when another was first seen to lead, and the host last without a lease
			for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(10 * time.Millisecond) {
				for name, r := range w.awake {
					if led.IsZero() && name != silent.name && r.Group().IsLeader() {
						led = time.Now()
					}
				}
				if len(h.Owned()) == 0 {
					lapsed = time.Now()
				}
			}
			all = append(all, max(lapsed.Sub(led), 0))
			for _, p := range owned {
				if now := w.other(silent).Machine().Partition(p.ID); now.Owner != "h1" || now.Epoch != p.Epoch {
					t.Fatalf("partition %d of the host moved: %+v", p.ID, now)
				}
			}
			w.heal()
		})
	}
	slices.Sort(all)
	t.Logf("without a lease after another led: median %v, at most %v", all[len(all)/2], all[len(all)-1])
	if slowest := all[len(all)-1]; slowest > hostPauseMax {
		t.Errorf("the host was without a lease until %v after another led: %v", slowest, all)
	}
}
