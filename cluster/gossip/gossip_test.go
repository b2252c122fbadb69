package gossip_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/memberlist"

	"dormouse/cluster/gossip"
	"dormouse/cluster/gossip/gossiptest"
)

// town is some nodes on one network, each of which knows all addresses.
type town struct {
	t       *testing.T
	network *gossiptest.Network
	nodes   []*resident
	seeds   func() []string
}

type resident struct {
	*gossip.Gossip
	name, addr string
	stop       func() // ends Run
	mu         sync.Mutex
	events     []string // guarded by mu
}

func newTown(t *testing.T, size int) *town {
	t.Helper()
	w := &town{t: t, network: gossiptest.New()}
	w.seeds = func() []string {
		var all []string
		for i := range size {
			all = append(all, addr(i))
		}
		return all
	}
	for i := range size {
		w.start(fmt.Sprintf("n%d", i), addr(i), "life-1")
	}
	t.Cleanup(func() {
		for _, n := range w.nodes {
			n.stop()
			_ = n.Drop() // in memory
		}
		time.Sleep(5 * time.Minute) // memberlist's timers
	})
	return w
}

// testKeys are the keys of all nodes.
var testKeys = [][]byte{make([]byte, 32)}

func addr(i int) string { return fmt.Sprintf("10.0.0.%d:7946", i+1) }

func (w *town) start(name, addr, incarnation string) *resident {
	w.t.Helper()
	transport, err := w.network.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	n := &resident{name: name, addr: addr}
	n.Gossip, err = gossip.New(gossip.Options{
		Name: name, Incarnation: incarnation, BindAddr: addr, Keys: testKeys, Seeds: func() []string { return w.seeds() },
		Meta: gossip.Meta{RaftAddr: "raft-" + name}, Transport: transport,
		OnEvent: func(s gossip.Seen) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.events = append(n.events, s.Name+" "+string(s.Status))
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := n.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	n.stop = func() { cancel(); <-done }
	w.nodes = append(w.nodes, n)
	return n
}

// counts is how many members a node sees in each status.
func (n *resident) counts() map[gossip.Status]int {
	counts := map[gossip.Status]int{}
	for _, seen := range n.Members() {
		counts[seen.Status]++
	}
	return counts
}

func (n *resident) sees(name string) gossip.Seen {
	for _, seen := range n.Members() {
		if seen.Name == name {
			return seen
		}
	}
	return gossip.Seen{}
}

// await fails the test if ok does not come true in time.
func (w *town) await(limit time.Duration, what string, ok func() bool) time.Duration {
	w.t.Helper()
	begin := time.Now()
	synctest.Wait() // so that what is seen has been told, too
	for !ok() {
		if time.Since(begin) > limit {
			w.t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
	}
	return time.Since(begin)
}

func (w *town) together() bool {
	for _, n := range w.nodes {
		if n.counts()[gossip.Alive] != len(w.nodes) {
			return false
		}
	}
	return true
}

func TestMembersFindEachOtherAndTellWhoTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 5)
		w.await(30*time.Second, "all see all", w.together)
		got := w.nodes[3].sees("n1")
		want := gossip.Seen{Name: "n1", Incarnation: "life-1", Status: gossip.Alive, Addr: addr(1), Meta: gossip.Meta{RaftAddr: "raft-n1"}}
		if got != want {
			t.Errorf("n3 sees %+v, want %+v", got, want)
		}
		if err := w.nodes[1].UpdateMeta(t.Context(), gossip.Meta{RaftAddr: "elsewhere"}); err != nil {
			t.Fatal(err)
		}
		w.await(10*time.Second, "the news spread", func() bool { return w.nodes[3].sees("n1").Meta.RaftAddr == "elsewhere" })
	})
}

func TestANodeThatIsCutOffIsSuspectedThenFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 5)
		w.await(30*time.Second, "all see all", w.together)
		w.network.Split([]string{addr(2)}, []string{addr(0), addr(1), addr(3), addr(4)})
		w.await(30*time.Second, "the others see it as failed", func() bool {
			for i, n := range w.nodes {
				if i != 2 && n.sees("n2").Status != gossip.Failed {
					return false
				}
			}
			return true
		})
		w.nodes[0].mu.Lock()
		defer w.nodes[0].mu.Unlock()
		if !slices.Contains(w.nodes[0].events, "n2 failed") {
			t.Errorf("n0 was told %v, want n2 failed among them", w.nodes[0].events)
		}
	})
}

func TestANodeThatDoesNotAnswerIsSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 3)
		w.await(30*time.Second, "all see all", w.together)
		// n0 cannot reach n1, but n2 can, and says so.
		w.network.Cut(addr(0), addr(1), true)
		w.network.Cut(addr(1), addr(0), true)
		w.await(time.Minute, "n0 suspects n1", func() bool { return w.nodes[0].sees("n1").Status == gossip.Suspect })
		if got := w.nodes[2].sees("n1").Status; got != gossip.Alive {
			t.Errorf("n2 sees n1 as %s, want alive", got)
		}
	})
}

// docs/hazards.md, G2: memberlist alone never heals after half an hour.
func TestTheHalvesFindEachOtherAfterALongCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 4)
		w.await(30*time.Second, "all see all", w.together)
		w.network.Split([]string{addr(0), addr(1)}, []string{addr(2), addr(3)})
		time.Sleep(30 * time.Minute)
		for _, n := range w.nodes {
			if got := n.counts(); got[gossip.Alive] != 2 || got[gossip.Failed] != 2 {
				t.Fatalf("during the cut %s sees %v, want two alive and two failed", n.name, got)
			}
		}
		w.network.Heal()
		w.await(time.Minute, "all see all again", w.together)
	})
}

// After a restart the log is read again first: until then a node knows no
// addresses, and the others go on seeing it as left.
func TestANodeThatLearnsLateWhoTheOthersAreMeetsThemAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 0)
		var known atomic.Bool
		w.seeds = func() []string {
			if !known.Load() {
				return nil
			}
			return []string{addr(0), addr(1), addr(2)}
		}
		for i := range 3 {
			w.start(fmt.Sprintf("n%d", i), addr(i), "life-1")
		}
		time.Sleep(2 * time.Second)
		known.Store(true)
		w.await(5*time.Second, "all see all", w.together)
	})
}

func TestALeavingNodeIsSeenAsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 3)
		w.await(30*time.Second, "all see all", w.together)
		w.nodes[2].stop()
		if err := w.nodes[2].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.await(5*time.Second, "the others see that it left", func() bool {
			return w.nodes[0].sees("n2").Status == gossip.Left && w.nodes[1].sees("n2").Status == gossip.Left
		})
		back := w.start("n2", addr(2), "life-2")
		w.await(time.Minute, "it is back, with its new incarnation", func() bool {
			seen := w.nodes[0].sees("n2")
			return seen.Status == gossip.Alive && seen.Incarnation == "life-2"
		})
		w.nodes = slices.DeleteFunc(w.nodes, func(n *resident) bool { return n.name == "n2" && n != back })
	})
}

// A dial to a machine that has vanished takes seconds, and so does a read from it.
func TestAStopDoesNotWaitForAMachineThatHasVanished(t *testing.T) {
	for name, before := range map[string]func(w *town, there *gossip.Transport){
		"before it was dialed": func(*town, *gossip.Transport) {},
		"before it answered": func(w *town, there *gossip.Transport) {
			transport, err := w.network.Listen(addr(1))
			if err != nil {
				w.t.Fatal(err)
			}
			*there = transport
			go func() { <-transport.StreamCh() }()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, 0)
				w.seeds = func() []string { return []string{addr(0), addr(1)} }
				var there gossip.Transport
				before(w, &there)
				n := w.start("n0", addr(0), "life-1")
				synctest.Wait() // it dials, or waits for the answer
				began := time.Now()
				n.stop()
				if err := n.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("the stop took %v", took)
				}
				if there != nil {
					_ = there.Shutdown()
				}
			})
		})
	}
}

func TestANodeLooksUpTheNameThatItAdvertisesAsLongAsItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, err := gossiptest.New().Listen(addr(0))
		if err != nil {
			t.Fatal(err)
		}
		g, err := gossip.New(gossip.Options{Name: "n0", Incarnation: "life-1", BindAddr: addr(0), Keys: testKeys, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Drop() //nolint:errcheck // in memory
		lookups := 0
		if err := gossip.SetAdvertised(g, "n0", func(context.Context, string) ([]net.IP, error) {
			lookups++
			return []net.IP{net.IPv4(10, 0, 0, 1)}, nil
		}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := g.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if lookups < 20 { // a round takes 30 s at most
			t.Errorf("%d lookups in ten minutes", lookups)
		}
	})
}

func TestASecondNodeWithATakenNameIsRefusedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 3)
		w.await(30*time.Second, "all see all", w.together)
		w.start("n1", addr(9), "another-life")
		time.Sleep(2 * time.Minute)
		for _, i := range []int{0, 2} {
			if got := w.nodes[i].sees("n1"); got.Addr != addr(1) || got.Incarnation != "life-1" {
				t.Errorf("n%d takes %+v for n1, want the first one", i, got)
			}
		}
		if w.nodes[0].Conflicts() == 0 {
			t.Error("no conflict was counted")
		}
	})
}

func TestANameIsFreeAgainOnceItsNodeHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 3)
		w.await(30*time.Second, "all see all", w.together)
		w.nodes[1].stop()
		if err := w.nodes[1].Drop(); err != nil {
			t.Fatal(err)
		}
		w.await(30*time.Second, "it is seen as failed", func() bool { return w.nodes[0].sees("n1").Status == gossip.Failed })
		time.Sleep(35 * time.Second)
		w.start("n1", addr(8), "life-2")
		w.await(time.Minute, "its successor is taken in elsewhere", func() bool {
			return w.nodes[0].sees("n1").Addr == addr(8) && w.nodes[0].sees("n1").Status == gossip.Alive
		})
	})
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	ok := gossip.Options{Name: "n", Incarnation: "i", BindAddr: "10.0.0.1:7946", Keys: testKeys}
	for _, c := range []struct {
		name   string
		change func(*gossip.Options)
		want   string
	}{
		{"no key", func(o *gossip.Options) { o.Keys = nil }, "a key must be given"},
		{"a short key", func(o *gossip.Options) { o.Keys = [][]byte{make([]byte, 5)} }, "key size"},
		{"no name", func(o *gossip.Options) { o.Name = "" }, "name"},
		{"no incarnation", func(o *gossip.Options) { o.Incarnation = "" }, "incarnation"},
		{"no port", func(o *gossip.Options) { o.BindAddr = "10.0.0.1" }, "port"},
		{"too much to tell", func(o *gossip.Options) { o.Meta.Version = strings.Repeat("v", 250) }, "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ok
			c.change(&o)
			transport, err := gossiptest.New().Listen("10.0.0.1:7946")
			if err != nil {
				t.Fatal(err)
			}
			o.Transport = transport
			g, err := gossip.New(o)
			if err == nil {
				_ = g.Drop() // in memory
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestOnRealSocketsTwoNodesMeet(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var first string
	var all []*gossip.Gossip
	var running sync.WaitGroup
	met := make(chan string, 64)
	for i := range 2 {
		name := fmt.Sprint("n", i)
		g, err := gossip.New(gossip.Options{
			Name: name, Incarnation: "i", Keys: testKeys, BindAddr: "127.0.0.1:0", Seeds: func() []string { return []string{first} },
			OnEvent: func(s gossip.Seen) {
				if s.Name != name && s.Status == gossip.Alive {
					met <- name
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = g.Addr()
		}
		all = append(all, g)
		running.Go(func() {
			if err := g.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	if a, b := <-met, <-met; a == b {
		t.Errorf("%s met somebody twice", a)
	}
	cancel()
	running.Wait()
	for _, g := range all {
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func FuzzMeta(f *testing.F) { gossip.FuzzCard(f) }

// early is a transport that gets a packet before its node has started. memberlist asks it for the address while it
// starts, after it has begun to listen.
type early struct {
	gossip.Transport
	packets chan *memberlist.Packet
	left    int // packets that were not taken when the address was last asked for
}

func (e *early) PacketCh() <-chan *memberlist.Packet { return e.packets }

func (e *early) FinalAdvertiseAddr(ip string, port int) (net.IP, int, error) {
	time.Sleep(time.Second)
	e.left = len(e.packets)
	return e.Transport.FinalAdvertiseAddr(ip, port)
}

// What others still gossip of an earlier life could make memberlist list the node itself as dead, and forget it.
func TestANodeTakesNoPacketBeforeItKnowsItselfSim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport, err := gossiptest.New().Listen(addr(0))
		if err != nil {
			t.Fatal(err)
		}
		e := &early{Transport: transport, packets: make(chan *memberlist.Packet, 1)}
		e.packets <- &memberlist.Packet{Buf: []byte("not encrypted"), From: &net.UDPAddr{}}
		g, err := gossip.New(gossip.Options{Name: "n0", Incarnation: "life-1", BindAddr: addr(0), Keys: testKeys, Transport: e})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Drop() //nolint:errcheck // in memory
		if e.left != 1 {
			t.Error("the packet was taken while the node started")
		}
		time.Sleep(time.Second)
		if len(e.packets) != 0 {
			t.Error("the packet was not taken after the node had started")
		}
	})
}
