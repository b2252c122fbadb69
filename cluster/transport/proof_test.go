package transport_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/cluster/clustertest"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
)

// end is a node's or a host's side of the network, with the peers it has met.
type end struct {
	*transport.Stream
	self *transport.Self
	met  chan transport.Identity
}

// open serves a node of a cluster until the test ends.
func open(t *testing.T, name, cluster string, o transport.Options) *end {
	t.Helper()
	self, err := transport.LoadSelf(name, raft.NewInmemStore())
	if err != nil {
		t.Fatal(err)
	}
	if cluster != "" {
		if err := self.Adopt(cluster); err != nil {
			t.Fatal(err)
		}
	}
	o.Logger = hclog.NewNullLogger()
	s, err := transport.Listen(o, self)
	if err != nil {
		t.Fatal(err)
	}
	e := &end{s, self, make(chan transport.Identity, 16)}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	go func() {
		for {
			c, err := s.PeerListener().Accept()
			if err != nil {
				return
			}
			if id, ok := transport.IdentityOf(c); ok {
				e.met <- id
			}
		}
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestOnlyTheClusterKeyOpensAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, ours, theirs := clustertest.NewNetwork(), keys.New(), keys.New()
		at := func(name string, c keys.Credentials) *end {
			return open(t, name, "c", transport.Options{Network: network.Host(name), Listen: name + ":raft", Keys: c})
		}
		n1 := at("n1", keys.Ring{ours})
		for _, c := range []struct {
			name string
			keys keys.Credentials
			role keys.Role // 0 if refused
		}{
			{"n2", keys.Ring{ours}, keys.Node},
			{"n3", keys.Ring{theirs}, 0},
			{"n4", keys.Ring{theirs, ours}, 0}, // it proves its current key, which n1 lacks
			{"h1", ours.Host().Credentials(), keys.Host},
			{"h2", theirs.Host().Credentials(), 0},
		} {
			conn, err := at(c.name, c.keys).DialPeer(t.Context(), "n1:raft")
			if c.role == 0 {
				if !errors.Is(err, transport.ErrHandshake) || !errors.Is(err, transport.ErrOtherKey) {
					t.Errorf("%s: %v, want a refusal of the key", c.name, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if met := <-n1.met; met.Role != c.role || met.Node != c.name {
				t.Errorf("%s is met as %+v", c.name, met)
			}
			if id, _ := transport.IdentityOf(conn); id.Node != "n1" || id.Role != c.role {
				t.Errorf("%s sees %+v", c.name, id)
			}
			_ = conn.Close()
		}
	})
}

// While a key is replaced, nodes with the old key current and nodes with the new one
// current reach each other.
func TestAKeyIsReplacedNodeByNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, before, after := clustertest.NewNetwork(), keys.New(), keys.New()
		at := func(name string, c keys.Ring) *end {
			return open(t, name, "c", transport.Options{Network: network.Host(name), Listen: name + ":raft", Keys: c})
		}
		nodes := []*end{at("n1", keys.Ring{before, after}), at("n2", keys.Ring{after, before})}
		for i, n := range nodes {
			conn, err := n.DialPeer(t.Context(), nodes[1-i].Addr())
			if err != nil {
				t.Errorf("%s: %v", n.self.Node, err)
				continue
			}
			<-nodes[1-i].met
			_ = conn.Close()
		}
	})
}

// impostor accepts connections at an address and plays the acceptor: it answers with
// what it has seen of a real node, and with proofs that it makes up or reflects.
func TestADialerVerifiesTheProofOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, key := clustertest.NewNetwork(), keys.New()
		removed, foreign := false, ""
		n1 := open(t, "n1", "c", transport.Options{
			Network: network.Host("n1"), Listen: "n1:raft", Keys: keys.Ring{key},
			OnRemoved: func() { removed = true }, OnForeign: func(_, why string) { foreign = why },
		})
		l, err := network.Host("evil").Listen("evil:raft")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // in memory
		for _, verdict := range []string{"W", "G", "F", "X", "K"} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close() //nolint:errcheck // in memory
				first := make([]byte, 4096)
				n, _ := c.Read(first)
				hello := append([]byte(nil), first[:n]...) // the dialer's own words, as an answer
				hello[5] = verdict[0]
				_, _ = c.Write(append(hello, make([]byte, keys.ProofSize)...))
				_, _ = io.Copy(io.Discard, c)
			}()
			if _, err := n1.DialPeer(t.Context(), "evil:raft"); !errors.Is(err, transport.ErrHandshake) {
				t.Errorf("verdict %s: %v", verdict, err)
			}
			<-done
		}
		if removed || foreign != "" {
			t.Errorf("an impostor was believed: removed %v, foreign %q", removed, foreign)
		}
	})
}

// A process with the host key may refuse a node, and cannot end it: what it says about members has no effect.
func TestAHostSaysNothingAboutMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, key := clustertest.NewNetwork(), keys.New()
		removed, foreign := false, ""
		n1 := open(t, "n1", "c", transport.Options{
			Network: network.Host("n1"), Listen: "n1:raft", Keys: keys.Ring{key},
			OnRemoved: func() { removed = true }, OnForeign: func(_, why string) { foreign = why },
		})
		open(t, "h1", "c", transport.Options{
			Network: network.Host("h1"), Listen: "h1:raft", Keys: key.Host().Credentials(), Removed: func(string) bool { return true },
		})
		open(t, "h2", "other", transport.Options{Network: network.Host("h2"), Listen: "h2:raft", Keys: key.Host().Credentials()})
		for _, addr := range []string{"h1:raft", "h2:raft"} {
			_, err := n1.DialPeer(t.Context(), addr)
			if !errors.Is(err, transport.ErrHandshake) || errors.Is(err, transport.ErrRemoved) || errors.Is(err, transport.ErrOtherCluster) {
				t.Errorf("%s: %v", addr, err)
			}
		}
		if removed || foreign != "" {
			t.Errorf("a host was believed: removed %v, foreign %q", removed, foreign)
		}
	})
}

// A man in the middle cannot use what both sides say on one connection for another.
func TestAProofCannotBePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, key := clustertest.NewNetwork(), keys.New()
		at := func(name string) *end {
			return open(t, name, "c", transport.Options{Network: network.Host(name), Listen: name + ":raft", Keys: keys.Ring{key}})
		}
		n1, n2 := at("n1"), at("n2")
		var recorded []byte
		conn, err := network.Host("n2").Dial(t.Context(), "n1:raft") // a tap on n2's machine
		if err != nil {
			t.Fatal(err)
		}
		tap, err := network.Host("tap").Listen("tap:raft")
		if err != nil {
			t.Fatal(err)
		}
		tapped := make(chan struct{})
		go func() {
			defer close(tapped)
			c, err := tap.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, conn) }()
			b := make([]byte, 4096)
			for {
				n, err := c.Read(b)
				recorded = append(recorded, b[:n]...)
				if _, werr := conn.Write(b[:n]); err != nil || werr != nil {
					return
				}
			}
		}()
		through, err := n2.DialPeer(t.Context(), "tap:raft")
		if err != nil {
			t.Fatalf("through the tap: %v", err)
		}
		<-n1.met
		_ = through.Close()
		<-tapped
		again, err := network.Host("n2").Dial(t.Context(), "n1:raft")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Write(recorded); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(again)
		if len(answer) == 0 || answer[len(answer)-1] != 'X' {
			t.Errorf("a replayed handshake ends with %q, want a refusal", answer[max(0, len(answer)-1):])
		}
		select {
		case id := <-n1.met:
			t.Errorf("a replayed handshake opened a connection as %+v", id)
		default:
		}
		_, _, _ = tap.Close(), again.Close(), conn.Close()
	})
}

func TestAJoinTokenGivesTheKeyAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, ring := clustertest.NewNetwork(), keys.Ring{keys.New(), keys.New()}
		open(t, "n1", "c", transport.Options{Network: network.Host("n1"), Listen: "n1:raft", Keys: ring})
		open(t, "lone", "", transport.Options{Network: network.Host("lone"), Listen: "lone:raft", Keys: ring})
		token := ring.NewToken(time.Now().Add(time.Minute), []string{"down:raft", "lone:raft", "n1:raft"})
		got, err := transport.Enrol(t.Context(), network.Host("n2"), "n2", token)
		if err != nil || got.Encode() != ring.Encode() {
			t.Fatalf("the keys: %v", err)
		}
		// The token opens no other connection.
		n3 := open(t, "n3", "c", transport.Options{Network: network.Host("n3"), Listen: "n3:raft", Keys: token})
		if _, err := n3.DialPeer(t.Context(), "n1:raft"); !errors.Is(err, transport.ErrHandshake) {
			t.Errorf("a joiner as a peer: %v", err)
		}
		for name, bad := range map[string]keys.Token{
			"another cluster's": keys.Ring{keys.New()}.NewToken(time.Now().Add(time.Minute), []string{"n1:raft"}),
			"expired":           ring.NewToken(time.Now().Add(-time.Minute), []string{"n1:raft"}),
		} {
			if _, err := transport.Enrol(t.Context(), network.Host("n2"), "n2", bad); !errors.Is(err, transport.ErrHandshake) {
				t.Errorf("%s token: %v", name, err)
			}
		}
	})
}

// tlsNetwork returns a network over TLS whose side is an issuer's, and which leaves
// verifying to the handshake.
func tlsNetwork(issuer *keys.Issuer) transport.Network {
	return transport.TCP{Config: &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		ClientAuth:           tls.RequestClientCert, InsecureSkipVerify: true,
	}}
}

// Over TLS the certificate names the node. The cluster key alone does not make one
// node another, nor does another cluster's authority.
func TestACertificateNamesItsNode(t *testing.T) {
	key := keys.New()
	authority, err := key.Authority()
	if err != nil {
		t.Fatal(err)
	}
	other, err := keys.New().Authority()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string, c keys.Credentials, issuer *keys.Issuer) *end {
		return open(t, name, "c", transport.Options{Network: tlsNetwork(issuer), Listen: "127.0.0.1:0", Keys: c, Roots: authority.Pool()})
	}
	n1 := at("n1", keys.Ring{key}, authority.Issuer("n1"))
	for _, c := range []struct {
		name    string
		keys    keys.Credentials
		issuer  *keys.Issuer
		welcome bool
	}{
		{"n2", keys.Ring{key}, authority.Issuer("n2"), true},
		{"n2", keys.Ring{key}, authority.Issuer("n3"), false},
		{"n2", keys.Ring{key}, other.Issuer("n2"), false},
		{"h1", key.Host().Credentials(), other.Issuer("h1"), true}, // the host key proves a host
	} {
		e := at(c.name, c.keys, c.issuer)
		conn, err := e.DialPeer(t.Context(), n1.Addr())
		if (err == nil) != c.welcome {
			t.Errorf("%s: dialing: %v, want welcome %v", c.name, err, c.welcome)
		}
		if err == nil {
			<-n1.met
			_ = conn.Close()
		}
		conn, err = n1.DialPeer(t.Context(), e.Addr())
		if (err == nil) != c.welcome {
			t.Errorf("%s: dialed: %v, want welcome %v", c.name, err, c.welcome)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}

// A relay between two TLS connections sees all bytes, and its victims notice it.
func TestARelayBetweenTwoTLSConnectionsIsNoticed(t *testing.T) {
	key := keys.New()
	authority, err := key.Authority()
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) *end {
		return open(t, name, "c", transport.Options{Network: tlsNetwork(authority.Issuer(name)), Listen: "127.0.0.1:0", Keys: key.Host().Credentials()})
	}
	n1, n2 := at("h1"), at("h2")
	relay := tlsNetwork(authority.Issuer("h1"))
	l, err := relay.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test ends
	go func() {
		near, err := l.Accept()
		if err != nil {
			return
		}
		far, err := relay.Dial(context.Background(), n1.Addr())
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	var c net.Conn
	if c, err = n2.DialPeer(t.Context(), l.Addr().String()); err == nil {
		_ = c.Close()
	}
	if !errors.Is(err, transport.ErrOtherKey) || !strings.Contains(err.Error(), "cannot prove") {
		t.Errorf("through a relay: %v, want a proof that does not fit", err)
	}
}
