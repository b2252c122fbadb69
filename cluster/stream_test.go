package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/cluster"
	"dormouse/cluster/clustertest"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
)

func dialPeer(t *testing.T, g *cluster.Group, addr string) error {
	t.Helper()
	c, err := g.DialPeer(t.Context(), addr)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func TestPeersKnowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1", "n2")
		c, err := l.nodes["n1"].group.DialPeer(t.Context(), "n2:raft")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		who, ok := transport.IdentityOf(c)
		n2 := l.nodes["n2"].group
		if want := (transport.Identity{Role: keys.Node, ClusterID: n2.ClusterID(), Node: "n2", Incarnation: n2.Incarnation(), Process: n2.Process()}); !ok || who != want {
			t.Errorf("%+v, want %+v", who, want)
		}
	})
}

func TestClustersDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		a, b := l.start("a", founding()), l.start("b", founding())
		l.until("both lead", func() bool { return a.group.IsLeader() && b.group.IsLeader() })
		err := dialPeer(t, a.group, "b:raft")
		if !errors.Is(err, transport.ErrHandshake) || !strings.Contains(err.Error(), a.group.ClusterID()) || !strings.Contains(err.Error(), b.group.ClusterID()) {
			t.Errorf("a peer connection: %v", err)
		}
	})
}

// The limits of cluster/transport.
const (
	handshakeMax  = 5 * time.Second
	unverifiedMax = 128
)

// hello encodes a message of the handshake by its documented format. It names the
// cluster key, which its sender need not have for an answer.
func hello(kind byte, cluster, node, incarnation, text string) []byte {
	b := []byte{'D', 'R', 'M', 'S', 4, kind}
	for _, field := range []string{cluster, node, incarnation, "", "", text, "n" + clustertest.Keys.Current().ID(), "nonce"} {
		b = append(b, byte(len(field)>>8), byte(len(field)))
		b = append(b, field...)
	}
	return append(b, '\n')
}

// shake sends one message of the handshake and returns the answer.
func shake(t *testing.T, l *lab, from, to string, say []byte) (answer []byte, err error) {
	t.Helper()
	c, err := l.net.Host(from).Dial(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(say); err != nil {
		return nil, err
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 4096)
	n, err := c.Read(b)
	return b[:n], err
}

func TestConnectionsOfStrangersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		n1 := l.nodes["n1"]
		mine := n1.group.ClusterID()
		for _, c := range []struct {
			name, want string
			say        []byte
		}{
			{"garbage", "", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
			{"a newer version", "", append([]byte("DRMS\x63R"), make([]byte, 8)...)},
			{"an endless field", "", []byte("DRMS\x02R\xff\xff")},
			{"raft without a cluster", "no part in raft", hello('R', "", "x", "i", "")},
			{"raft of another cluster", "x belongs to cluster other", hello('R', "other", "x", "i", "")},
			{"an unknown kind", "unknown kind", hello('Q', mine, "x", "i", "")},
		} {
			answer, err := shake(t, l, "x", "n1:raft", c.say)
			switch {
			case c.want == "" && err == nil:
				t.Errorf("%s: answered %q", c.name, answer)
			case c.want != "" && (err != nil || !strings.Contains(string(answer), c.want)):
				t.Errorf("%s: %q, %v", c.name, answer, err)
			}
		}
	})
}

func TestASilentConnectionIsDroppedAndTheyAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		host := l.net.Host("x")
		for range unverifiedMax {
			c, err := host.Dial(t.Context(), "n1:raft")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
		}
		time.Sleep(100 * time.Millisecond)
		if open := l.net.Open("n1"); open < unverifiedMax {
			t.Errorf("%d connections are open", open)
		}
		// They keep no node out, however many come.
		n2 := l.start("n2", nil)
		for range 2 * unverifiedMax {
			extra, err := host.Dial(t.Context(), "n1:raft")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = extra.Close() }()
		}
		if err := dialPeer(t, n2.group, "n1:raft"); err != nil {
			t.Errorf("a node among silent connections: %v", err)
		}
		time.Sleep(100 * time.Millisecond)
		if open := l.net.Open("n1"); open > unverifiedMax+8 {
			t.Errorf("%d connections are open, and at most %d handshakes are to be under way", open, unverifiedMax)
		}
		time.Sleep(handshakeMax + time.Second)
		if open := l.net.Open("n1"); open > 8 { // those of n2
			t.Errorf("%d silent connections are open", open)
		}
	})
}

func TestANodeWithoutAClusterTakesNoRaft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		fresh := l.start("n2", nil)
		if err := dialPeer(t, fresh.group, "n1:raft"); err != nil {
			t.Errorf("it may ask: %v", err)
		}
		answer, err := shake(t, l, "n1", "n2:raft", hello('R', l.nodes["n1"].group.ClusterID(), "n1", "i", ""))
		if err != nil || !strings.Contains(string(answer), "no part in raft") {
			t.Errorf("%q, %v", answer, err)
		}
	})
}

func TestDialingGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.found("n1")
		l.start("n2", nil)
		for _, cut := range []func(){
			func() { l.net.Block("n1", "n2") },
			func() { l.net.HealAll(); l.net.Block("n2", "n1") },
		} {
			cut()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			if _, err := l.nodes["n1"].group.DialPeer(ctx, "n2:raft"); err == nil || time.Since(start) != time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			cancel()
		}
	})
}

func TestTCPCarriesAGroup(t *testing.T) {
	open := func(name string, joins ...string) *cluster.Group {
		m := newMachine()
		peers := &peers{}
		g, err := cluster.Open(cluster.Options{
			NodeID: name, Keys: clustertest.Keys, Listen: "127.0.0.1:0", Machine: m, Snapshots: memorySnapshots(), Peers: peers,
			Bootstrap: len(joins) == 0, Join: joins, Timing: cluster.AloneTiming(),
		})
		if err != nil {
			t.Fatal(err)
		}
		peers.group = g
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- g.Run(ctx) }()
		go servePeers(g, g.PeerListener())
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := g.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return g
	}
	first := open("n1")
	second := open("n2", first.Addr())
	for second.ClusterID() == "" {
		<-second.LeaderChanged()
	}
	if second.ClusterID() != first.ClusterID() {
		t.Error("two clusters")
	}
}
