package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// here returns a client scope of one node.
func here(r *testNode) client.Scope { return client.In(r.Service(), agent.DefaultScope) }

func take(t *testing.T, r *testNode, holder string, ttl time.Duration) agent.Claim {
	t.Helper()
	c, err := here(r).TakeClaim(t.Context(), agent.TakeClaim{Claim: "c", Holder: holder, TTL: ttl})
	if err != nil {
		t.Fatalf("%s takes the claim: %v", holder, err)
	}
	return c
}

// A holder that is cut off together with the leader still believes that it holds the claim. Its
// writes, in flight and later, are refused by the log, without any clock.
func TestAStaleHoldersWriteIsRefusedSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		cut := w.leader()
		const ttl = 5 * time.Second
		a := take(t, cut, "a", ttl)
		began := time.Now()
		w.isolate(cut.name)
		stale := agent.Commit{
			Request: agent.Request{Client: "a", Seq: 1}, Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("a")}},
		}
		sent := make(chan error, 1)
		go func() {
			_, err := cut.Service().Commit(t.Context(), stale)
			sent <- err
		}()

		var other *testNode
		w.await("another leader", func() bool {
			for _, r := range w.awake {
				if r != cut && r.Group().IsLeader() {
					other = r
				}
			}
			return other != nil
		})
		led := time.Now()
		var b agent.Claim
		w.await("b to get the claim", func() (done bool) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			var err error
			b, err = here(other).TakeClaim(ctx, agent.TakeClaim{Claim: "c", Holder: "b", TTL: time.Hour})
			if err != nil && !errors.Is(err, agent.ErrAlreadyClaimed) && !agent.Retryable(err) {
				t.Fatalf("b: %v", err)
			}
			return err == nil
		})
		if took := time.Since(began); took < ttl {
			t.Errorf("b got the claim %v after a took it for %v", took, ttl)
		}
		if took := time.Since(led); took > ttl+time.Second {
			t.Errorf("b got the claim %v after another node led", took)
		}
		if _, err := other.Service().Commit(t.Context(), agent.Commit{
			Fence: b.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v", Bytes: []byte("b")}},
		}); err != nil {
			t.Fatalf("b writes: %v", err)
		}

		w.heal()
		if err := <-sent; err == nil {
			t.Error("what a sent while it was cut off was acknowledged")
		}
		w.await("the cut node to serve again", func() bool { return cut.Ready() == nil })
		for _, r := range w.awake {
			_, err := r.Service().Commit(t.Context(), stale)
			var e *agent.Error
			if !errors.As(err, &e) || e.Code != agent.CodeFenced || e.Epoch != b.Epoch || e.Holder != "b" {
				t.Errorf("a writes through %s: %v; want it fenced by %+v", r.name, err, b)
			}
			if v, err := here(r).GetValue(t.Context(), "v"); err != nil || string(v.Bytes) != "b" {
				t.Errorf("%s reads %+v, %v", r.name, v, err)
			}
			if _, err := here(r).RenewClaim(t.Context(), agent.RenewClaim{Claim: "c", Holder: "a", Epoch: a.Epoch}); !errors.Is(err, agent.ErrFenced) {
				t.Errorf("a renews through %s: %v", r.name, err)
			}
		}
		w.agree()
	})
}

// Claims cannot be renewed without a leader. So a new leader gives each unexpired claim its full
// TTL from the start of its term, but not a second time.
func TestAChangeOfLeaderGivesAClaimItsFullTTLSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		const ttl = 10 * time.Second
		a := take(t, w.leader(), "a", ttl)
		time.Sleep(ttl - time.Second)
		if err := put(t.Context(), w.leader().Service(), "k", 1); err != nil { // brings the log's time up to now
			t.Fatal(err)
		}
		w.crash(w.leader().name)
		led := w.leader()
		since := time.Now()
		time.Sleep(ttl - 500*time.Millisecond)
		held, err := here(led).GetClaim(t.Context(), "c")
		if err != nil || held.Epoch != a.Epoch {
			t.Fatalf("%v after the change: %+v, %v", time.Since(since), held, err)
		}
		if left := time.Until(time.UnixMilli(held.ExpiresAt)); left <= 0 || left > time.Second {
			t.Errorf("it says that it expires in %v", left)
		}
		time.Sleep(time.Second)
		if held, err := here(led).GetClaim(t.Context(), "c"); !errors.Is(err, agent.ErrNotFound) {
			t.Fatalf("%v after the change: %+v, %v", time.Since(since), held, err)
		}
		if _, err := here(led).RenewClaim(t.Context(), agent.RenewClaim{Claim: "c", Holder: "a", Epoch: a.Epoch}); !errors.Is(err, agent.ErrFenced) {
			t.Errorf("it was renewed after it had expired: %v", err)
		}
	})
}

// Watchers on all nodes are told of an expiry in time, even without writes.
func TestAWatchTellsOfAnExpiryInTimeSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 3)
		const ttl = 7 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var watchers sync.WaitGroup
		var came sync.Map // :: node → when it reported that the claim was free
		for name, r := range w.awake {
			watchers.Go(func() {
				held := false
				for event, err := range r.Service().Watch(ctx, agent.Watch{Claim: "c"}) {
					if err != nil {
						t.Errorf("the watch on %s: %v", name, err)
						return
					}
					if held && !event.Claim.Held() {
						came.Store(name, time.Now())
						return
					}
					held = event.Claim.Held()
				}
			})
		}
		time.Sleep(time.Second)
		before := time.Now()
		take(t, w.leader(), "a", ttl)
		after := time.Now()
		watchers.Wait()
		for name := range w.awake {
			at, ok := came.Load(name)
			if !ok {
				t.Fatalf("%s said nothing", name)
			}
			if at.(time.Time).Before(before.Add(ttl)) || at.(time.Time).After(after.Add(ttl+500*time.Millisecond)) {
				t.Errorf("%s told of the expiry %v after it was taken for %v", name, at.(time.Time).Sub(before), ttl)
			}
		}
	})
}

// tenure is one holding as its holder knows it: before until, no other holder can have been given
// the claim.
type tenure struct {
	holder       string
	epoch        uint64
	asked, given time.Time // of the call that took it
	until        time.Time // by the holder's own clock, from before its call
}

// contender takes the claim whenever it can, renews it, and writes with its fence through any node,
// until ctx ends.
func contender(ctx context.Context, w *chaosCluster, holder string, rng *rand.Rand, note func(tenure)) {
	const ttl = 1500 * time.Millisecond
	var mine agent.Claim
	for ctx.Err() == nil {
		time.Sleep(time.Duration(50+rng.IntN(400)) * time.Millisecond)
		through := w.someone(rng)
		if through == nil {
			continue
		}
		bound, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		scope, asked := client.In(through.Service(), agent.DefaultScope), time.Now()
		switch {
		case !mine.Held():
			c, err := scope.TakeClaim(bound, agent.TakeClaim{Claim: "c", Holder: holder, TTL: ttl})
			if err == nil {
				mine = c
				note(tenure{holder, c.Epoch, asked, time.Now(), asked.Add(ttl)})
			}
		case rng.IntN(3) == 0:
			if _, err := scope.RenewClaim(bound, agent.RenewClaim{Claim: "c", Holder: holder, Epoch: mine.Epoch}); err == nil {
				note(tenure{holder, mine.Epoch, asked, time.Now(), asked.Add(ttl)})
			} else if errors.Is(err, agent.ErrFenced) {
				mine = agent.Claim{}
			}
		case rng.IntN(8) == 0:
			time.Sleep(2 * ttl) // it pauses, without noticing that time has passed
		default:
			draft := agent.Draft{Kind: "note", Payload: agent.JSON(fmt.Sprintf(`{"epoch":%d,"holder":%q}`, mine.Epoch, holder))}
			_, err := through.Service().Commit(bound, agent.Commit{
				Fence: mine.Fence(), Ops: []agent.Op{&agent.AppendThread{Thread: "t", Entries: []agent.Draft{draft}}},
			})
			if errors.Is(err, agent.ErrFenced) {
				mine = agent.Claim{}
			}
		}
		cancel()
	}
}

// Holders contend for a claim, and pause longer than its TTL, while the network and the nodes fail.
// The journal has the writes of one holder after the other, each with its own epoch. And no holder
// was given the claim while another definitely had it.
func TestHoldersNeverInterleaveUnderChaosSim(t *testing.T) {
	seed := uint64(time.Now().UnixNano()) ^ rand.Uint64()
	t.Logf("seed %d", seed)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &chaosCluster{simCluster: newSimCluster(t, 3), key: make(chan struct{}, 1)}
		ctx, stop := context.WithCancel(context.Background())
		var mu sync.Mutex
		var tenures []tenure // guarded by mu
		var contenders sync.WaitGroup
		for i := range 4 {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			contenders.Go(func() {
				contender(ctx, w, fmt.Sprint("h", i), rng, func(c tenure) {
					mu.Lock()
					defer mu.Unlock()
					tenures = append(tenures, c)
				})
			})
		}
		rng := rand.New(rand.NewPCG(seed, 99))
		for range 6 {
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
			w.trouble(rng)
		}
		stop()
		contenders.Wait()

		for i, c := range tenures {
			for _, d := range tenures[:i] {
				if c.epoch == d.epoch && c.holder != d.holder {
					t.Errorf("epoch %d was %s's and %s's", c.epoch, c.holder, d.holder)
				}
				first, second := c, d
				if second.epoch < first.epoch {
					first, second = second, first
				}
				// first was certain from when it was given until its end, so second's later taking
				// cannot have been answered in between.
				if first.holder != second.holder && second.given.Before(first.until) {
					t.Errorf("%s was given epoch %d at %v, while %s had epoch %d until %v",
						second.holder, second.epoch, second.given, first.holder, first.epoch, first.until)
				}
			}
		}
		w.await("the journal", func() bool {
			found, err := here(w.leader()).Load(t.Context(), agent.LoadEntries{Thread: "t", Limit: agent.EntriesLimitMax})
			if err != nil {
				return agent.CodeOf(err) == agent.CodeNotFound
			}
			holders, last := map[uint64]string{}, uint64(0)
			for _, e := range found.Items {
				var epoch uint64
				var holder string
				if _, err := fmt.Sscanf(string(e.Payload), `{"epoch":%d,"holder":%q}`, &epoch, &holder); err != nil {
					t.Fatal(err)
				}
				if epoch < last {
					t.Errorf("entry %d was written under epoch %d, after %d", e.Seq, epoch, last)
				}
				if h := holders[epoch]; h != "" && h != holder {
					t.Errorf("%s and %s both wrote under epoch %d", h, holder, epoch)
				}
				holders[epoch], last = holder, epoch
			}
			t.Logf("%d tenures, %d entries under %d epochs", len(tenures), len(found.Items), len(holders))
			return true
		})
		if len(tenures) < 5 {
			t.Errorf("only %d tenures: that proves little", len(tenures))
		}
		w.agree()
	})
}
