package transport

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/keys"
	"dormouse/cluster/raftlog"
)

// Which dialers a node accepts, by their role, their cluster and the kind of the connection.
func TestWhoMayConnect(t *testing.T) {
	for name, c := range map[string]struct {
		mine string // cluster of this node
		h    hello
		role keys.Role
		want byte
	}{
		"a node for raft":                  {"c", hello{kind: kindRaft, cluster: "c"}, keys.Node, verdictWelcome},
		"a host for raft":                  {"c", hello{kind: kindRaft, cluster: "c"}, keys.Host, verdictRefused},
		"a host for calls":                 {"c", hello{kind: kindPeer, cluster: "c"}, keys.Host, verdictWelcome},
		"a node without a cluster":         {"c", hello{kind: kindPeer}, keys.Node, verdictWelcome},
		"a node without a cluster to raft": {"c", hello{kind: kindRaft}, keys.Node, verdictRefused},
		"a node to raft of no cluster":     {"", hello{kind: kindRaft, cluster: "c"}, keys.Node, verdictRefused},
		"a node to no cluster":             {"", hello{kind: kindPeer, cluster: "c"}, keys.Node, verdictWelcome},
		"a node of another cluster":        {"c", hello{kind: kindPeer, cluster: "d"}, keys.Node, verdictForeign},
		"a removed node":                   {"c", hello{kind: kindPeer, cluster: "c", incarnation: "gone"}, keys.Node, verdictRemoved},
		"a joiner":                         {"c", hello{kind: kindEnrol}, keys.Joiner, verdictWelcome},
		"a joiner at no cluster":           {"", hello{kind: kindEnrol}, keys.Joiner, verdictRefused},
		"a joiner for calls":               {"c", hello{kind: kindPeer}, keys.Joiner, verdictRefused},
		"a node that enrols":               {"c", hello{kind: kindEnrol}, keys.Node, verdictRefused},
		"an unknown kind":                  {"c", hello{kind: '?', cluster: "c"}, keys.Node, verdictRefused},
	} {
		s := &Self{Node: "n1", cluster: c.mine}
		if got, why := s.judge(c.h, c.role, func(incarnation string) bool { return incarnation == "gone" }); got != c.want || (why == "") != (c.want == verdictWelcome) {
			t.Errorf("%s: %c, %q, want %c", name, got, why, c.want)
		}
	}
}

// Which answers let a dialer connect; the others say why not.
func TestWhatADialerAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		mine   string
		kind   byte
		answer hello
		want   error // nil: it connects
	}{
		"a member":                     {"c", kindRaft, hello{kind: verdictWelcome, cluster: "c"}, nil},
		"calls of no cluster":          {"", kindPeer, hello{kind: verdictWelcome, cluster: "c"}, nil},
		"another cluster":              {"c", kindPeer, hello{kind: verdictWelcome, cluster: "d"}, ErrOtherCluster},
		"raft of no cluster":           {"", kindRaft, hello{kind: verdictWelcome, cluster: "c"}, ErrHandshake},
		"raft to no cluster":           {"c", kindRaft, hello{kind: verdictWelcome}, ErrHandshake},
		"it says that this is removed": {"c", kindPeer, hello{kind: verdictRemoved, cluster: "c"}, ErrRemoved},
		"it says that this is foreign": {"c", kindPeer, hello{kind: verdictForeign}, ErrOtherCluster},
		"it refuses":                   {"c", kindPeer, hello{kind: verdictRefused, cluster: "c"}, ErrHandshake},
		"it does not know the key":     {"c", kindPeer, hello{kind: verdictUnknownKey, cluster: "c"}, ErrOtherKey},
	} {
		s := &Self{Node: "n1", cluster: c.mine}
		if err := s.check(c.kind, c.answer); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A greeting is refused before what does not fit is read.
func TestAGreetingThatIsNoneIsRefused(t *testing.T) {
	whole := hello{kind: kindPeer, node: "n1", nonce: nonce()}.encode()
	if h, err := readHello(bytes.NewReader(whole)); err != nil || h.node != "n1" {
		t.Fatalf("%+v, %v", h, err)
	}
	for name, change := range map[string]func(b []byte){
		"of a later version":    func(b []byte) { b[len(helloMagic)]++ },
		"of a field too long":   func(b []byte) { b[len(helloMagic)+2] = 0xff },
		"with another end":      func(b []byte) { b[len(b)-1] = 'x' },
		"of another protocol":   func(b []byte) { copy(b, "HTTP") },
		"of an earlier version": func(b []byte) { b[len(helloMagic)]-- },
	} {
		b := append(bytes.Clone(whole), make([]byte, 1<<16)...)[:len(whole)]
		change(b)
		r := bytes.NewReader(append(b, make([]byte, 1<<16)...))
		if h, err := readHello(r); !errors.Is(err, ErrHandshake) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		if r.Len() < 1<<16 {
			t.Errorf("%s: %d bytes too many were read", name, 1<<16-r.Len())
		}
	}
}

// All callers share the pause of an address that refuses this node. It doubles up to refusedMax, and one
// caller dials at a time.
func TestAnAddressThatRefusesIsDialedByOneCallerAtATime(t *testing.T) {
	var r refusals
	now := time.Now()
	pause := refusedMin
	r.note("a", true, now)
	r.note("a", true, now) // of a call that began before the first refusal
	for range 10 {
		if wait := r.wait("a", now); wait != pause {
			t.Fatalf("%s, want %s", wait, pause)
		}
		now = now.Add(pause)
		if first, second := r.wait("a", now), r.wait("a", now); first != 0 || second == 0 {
			t.Fatalf("two callers wait for %s and %s", first, second)
		}
		r.note("a", true, now)
		pause = min(2*pause, refusedMax)
	}
	r.note("a", false, now)
	if wait := r.wait("a", now); wait != 0 {
		t.Errorf("after it has accepted: %s", wait)
	}
}

// A log has one line about a peer in logEvery, and the limiter a bounded number of peers.
func TestLinesAboutAPeerAreLimited(t *testing.T) {
	var l logLimiter
	now := time.Now()
	for n, c := range []struct {
		after      time.Duration
		due        bool
		suppressed int
	}{{0, true, 0}, {logEvery - 1, false, 0}, {0, false, 0}, {1, true, 2}} {
		now = now.Add(c.after)
		if suppressed, due := l.allow("a", now); due != c.due || suppressed != c.suppressed {
			t.Errorf("line %d: due: %t, %d suppressed", n, due, suppressed)
		}
	}
	for n := range 3 * loggedMax {
		l.allow(strings.Repeat("x", n), now)
		if len(l.last) > loggedMax {
			t.Fatalf("%d peers are remembered", len(l.last))
		}
	}
}

// A data directory belongs to one node and one cluster for good.
func TestADataDirectoryIsOneNodesAndOneClusters(t *testing.T) {
	stable := raft.NewInmemStore()
	s, err := LoadSelf("n1", stable)
	if err != nil {
		t.Fatal(err)
	}
	claimed := ""
	claim := func(cluster string) error { claimed = cluster; return nil }
	if err := errors.Join(s.SetClaim(claim), s.Adopt("c"), s.Adopt("c")); err != nil || claimed != "c" {
		t.Fatal(claimed, err)
	}
	if err := s.Adopt("d"); err == nil || s.ClusterID() != "c" {
		t.Errorf("it is of cluster %s: %v", s.ClusterID(), err)
	}
	if _, err := LoadSelf("n2", stable); !errors.Is(err, raftlog.ErrForeign) {
		t.Errorf("another node: %v", err)
	}
	again, err := LoadSelf("n1", stable)
	if err != nil || again.ClusterID() != "c" || again.Incarnation != s.Incarnation || again.Process == s.Process {
		t.Fatalf("%+v, %v", again, err)
	}
	claimed = ""
	if err := again.SetClaim(claim); err != nil || claimed != "c" {
		t.Errorf("the state's disk is of %q after a restart, %v", claimed, err)
	}
	if !again.SetRemoved() || again.SetRemoved() || !again.Removed() {
		t.Error("a removal is not told once")
	}
}
