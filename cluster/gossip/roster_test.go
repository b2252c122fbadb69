package gossip

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"

	"dormouse/internal/listener"
)

func rosterOf(name string) *roster {
	return newRoster(Options{Name: name, Incarnation: "i", Logger: hclog.NewNullLogger()}, time.Second)
}

// nodeOf returns a node as memberlist reports it.
func nodeOf(t *testing.T, name string, port uint16, c card) *memberlist.Node {
	t.Helper()
	raw, err := c.encode()
	if err != nil {
		t.Fatal(err)
	}
	return &memberlist.Node{Name: name, Addr: net.IPv4(127, 0, 0, 1), Port: port, Meta: raw}
}

// Members that have left or failed are forgotten, the oldest first, once there are more than departedMax.
// Those that are alive are kept.
func TestTheOldestDepartedMembersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rosterOf("self")
		name := func(n int) string { return fmt.Sprintf("n%03d", n) }
		for n := departedMax + 9; n >= 0; n-- {
			r.NotifyJoin(nodeOf(t, name(n), 1, card{}))
		}
		names := func() (all []string) {
			for _, s := range r.list() {
				all = append(all, s.Name)
			}
			return all
		}
		for n := range departedMax + 2 {
			r.NotifyLeave(nodeOf(t, name(n), 1, card{}))
			time.Sleep(time.Second)
			if n == departedMax-1 && len(names()) != departedMax+10 {
				t.Errorf("with %d departed members, %d are known", departedMax, len(names()))
			}
		}
		got := names()
		if len(got) != departedMax+8 || got[0] != name(2) || !slices.IsSorted(got) {
			t.Errorf("%d members are known, from %s on", len(got), got[0])
		}
		if changed := r.take(); len(changed) != departedMax+8 {
			t.Errorf("%d members are reported, each once", len(changed))
		}
		if changed := r.take(); len(changed) != 0 {
			t.Errorf("%d members are reported again", len(changed))
		}
	})
}

func TestANodeWhoseMetadataCannotBeReadIsRefused(t *testing.T) {
	r := rosterOf("self")
	newer := nodeOf(t, "n1", 1, card{})
	newer.Meta[0]++
	if r.NotifyAlive(newer) == nil {
		t.Error("another format is accepted")
	}
	newer.Name = "self"
	if err := r.NotifyAlive(newer); err != nil {
		t.Errorf("memberlist cannot refute what is said of this node: %v", err)
	}
	if err := r.NotifyAlive(nodeOf(t, "n1", 1, card{})); err != nil {
		t.Error(err)
	}
}

func TestMetadataThatIsTooLongChangesNothing(t *testing.T) {
	r := rosterOf("self")
	before := r.NodeMeta(MetaBytesMax)
	for _, n := range []int{MetaBytesMax - 5, MetaBytesMax + 1, 1 << 20} {
		if err := r.setCard(func(c *card) { c.Version = strings.Repeat("x", n) }); err == nil {
			t.Errorf("a version of %d bytes is accepted", n)
		}
	}
	if after := r.NodeMeta(MetaBytesMax); string(after) != string(before) {
		t.Errorf("%q, before %q", after, before)
	}
}

// The flags of a later version do not hide that a node leaves.
func TestANodeOfALaterVersionLeaves(t *testing.T) {
	raw, err := card{leaving: true}.encode()
	if err != nil {
		t.Fatal(err)
	}
	raw[1] |= 2
	if c, err := decodeCard(raw); err != nil || !c.leaving {
		t.Errorf("%+v, %v", c, err)
	}
}

// A node joins each address of the log once that no live member has: not its own, and not that of a suspect.
func TestANodeJoinsThoseThatItDoesNotSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seeds := []string{"", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4", "127.0.0.1:4", "127.0.0.1:5"}
		g := &Gossip{o: Options{Name: "self", Seeds: func() []string { return seeds }}, addr: "127.0.0.1:1", roster: rosterOf("self")}
		suspect, failed := nodeOf(t, "suspect", 2, card{}), nodeOf(t, "failed", 4, card{})
		g.roster.NotifyJoin(suspect)
		g.roster.NotifyJoin(failed)
		g.roster.NotifyLeave(failed)
		time.Sleep(time.Minute)
		g.roster.NotifyJoin(nodeOf(t, "alive", 3, card{}))
		if missing := g.missing(); !slices.Equal(missing, []string{"127.0.0.1:4", "127.0.0.1:5"}) {
			t.Errorf("%v of %+v", missing, g.Members())
		}
	})
}

// memberlist takes a time of 0 for no limit.
func TestTheTimeToLeaveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for in, want := range map[time.Duration]time.Duration{time.Hour: leaveMax, time.Second: time.Second, 0: time.Millisecond, -time.Hour: time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), in)
			if got := remaining(ctx); got != want {
				t.Errorf("with %s left: %s, want %s", in, got, want)
			}
			cancel()
		}
		if got := remaining(t.Context()); got != leaveMax {
			t.Errorf("without a deadline: %s", got)
		}
	})
}

func TestAClosedGossipSendsNothing(t *testing.T) {
	g := &Gossip{closed: true, roster: rosterOf("self")}
	if err := g.UpdateMeta(t.Context(), Meta{}); err == nil {
		t.Error("its metadata was changed")
	}
	if err := g.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Both keys are accepted while one replaces the other. A message is not decompressed: see docs/hazards.md, G5.
func TestEachKeyIsAccepted(t *testing.T) {
	keys := [][]byte{[]byte("0123456789abcdef"), []byte("fedcba9876543210")}
	g := Gossip{o: Options{Name: "n1", Incarnation: "i", BindAddr: "127.0.0.1:0", Keys: keys, Logger: hclog.NewNullLogger()}}
	c, err := g.config()
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Keyring.GetKeys(); len(got) != 2 || string(c.Keyring.GetPrimaryKey()) != string(keys[0]) {
		t.Errorf("%d keys are accepted, the primary one is %q", len(got), c.Keyring.GetPrimaryKey())
	}
	if c.EnableCompression || c.DeadNodeReclaimTime != reclaimAfter {
		t.Errorf("compression: %t, a name is free after %s", c.EnableCompression, c.DeadNodeReclaimTime)
	}
}

// A stream of gossip is passed on whole, also one with a label, and has no deadline then. One that sends
// nothing is closed.
func TestAStreamOfGossipIsPassedOnWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{logger: hclog.NewNullLogger(), streams: make(chan net.Conn), open: listener.NewUnproved(streamsMax)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		check := func() net.Conn {
			here, there := net.Pipe()
			go s.check(ctx, &begun{Conn: there, open: s.open})
			return here
		}
		for _, first := range []byte{0, messageTypesEnd - 1, labelType} {
			here := check()
			if _, err := here.Write([]byte{first, 1, 2}); err != nil {
				t.Fatal(err)
			}
			passed := <-s.streams
			time.Sleep(2 * streamTimeout)
			go func() { _, _ = here.Write([]byte{3}) }() // the reads below see it
			var got []byte
			for range 4 {
				var b [1]byte
				if _, err := passed.Read(b[:]); err != nil {
					t.Fatal(err)
				}
				got = append(got, b[0])
			}
			if string(got) != string([]byte{first, 1, 2, 3}) {
				t.Errorf("%v was read", got)
			}
			_ = here.Close()
		}
		if _, err := check().Read(make([]byte, 1)); err == nil {
			t.Error("a silent connection stays open")
		}
		begun := check()
		if _, err := begun.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		cancel() // no one takes it any more
		if _, err := begun.Read(make([]byte, 1)); err == nil {
			t.Error("a connection outlives its node")
		}
	})
}
