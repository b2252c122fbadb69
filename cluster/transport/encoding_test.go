package transport

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/keys"
	"dormouse/cluster/raftrpc"
)

// serveStream serves a node of a cluster on loopback until the test ends.
func serveStream(t *testing.T, name string, o Options) *Stream {
	t.Helper()
	self, err := LoadSelf(name, raft.NewInmemStore())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Adopt("c"); err != nil {
		t.Fatal(err)
	}
	o.Listen, o.Logger = "127.0.0.1:0", nullLogger
	s, err := Listen(o, self)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s *Stream) {
	t.Helper()
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// Two nodes of this build send frames with checksums. With a node of an earlier build,
// both sides use what it knows, whichever dials. A node of a later build names this
// build's frames among the encodings that it knows.
func TestTwoNodesAgreeOnTheEncodingOfCalls(t *testing.T) {
	ring := keys.Ring{keys.New()}
	authority, err := ring[0].Authority()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		dialer, acceptor string
		tls              bool
		want             raftrpc.Encoding
		text             string // of the answer
	}{
		{"both of this build", encodingsKnown, encodingsKnown, false, raftrpc.SummedFrames, summedFramesName},
		{"over TLS", encodingsKnown, encodingsKnown, true, raftrpc.SummedFrames, summedFramesName},
		{"a dialer before checksums", framesName, encodingsKnown, false, raftrpc.Frames, framesName},
		{"an acceptor before checksums", encodingsKnown, framesName, false, raftrpc.Frames, framesName},
		{"a dialer before frames", "", encodingsKnown, false, raftrpc.Msgpack, ""},
		{"an acceptor before frames", encodingsKnown, "", false, raftrpc.Msgpack, ""},
		{"both before frames", "", "", false, raftrpc.Msgpack, ""},
		{"a later dialer", "frames/3 " + encodingsKnown, encodingsKnown, false, raftrpc.SummedFrames, summedFramesName},
		{"a dialer without frames of this build", "frames/3", encodingsKnown, false, raftrpc.Msgpack, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := func(name string) Options {
				o := Options{Keys: ring}
				if c.tls {
					o.Network, o.Roots = tlsOf(authority.Issuer(name)), authority.Pool()
				}
				return o
			}
			from, to := serveStream(t, "n1", options("n1")), serveStream(t, "n2", options("n2"))
			from.encodings, to.encodings = c.dialer, c.acceptor
			run(t, from)
			run(t, to)
			type end struct {
				c        net.Conn
				encoding raftrpc.Encoding
				err      error
			}
			accepted := make(chan end, 1)
			go func() {
				c, encoding, err := raftLayer{to.raft}.Accept()
				accepted <- end{c, encoding, err}
			}()
			dialed, encoding, err := raftLayer{from.raft}.Dial(raft.ServerAddress(to.Addr()))
			if err != nil || encoding != c.want {
				t.Fatalf("the dialer: encoding %d, %v, want %d", encoding, err, c.want)
			}
			other := <-accepted
			if other.err != nil || other.encoding != c.want {
				t.Fatalf("the acceptor: encoding %d, %v, want %d", other.encoding, other.err, c.want)
			}
			for _, e := range []net.Conn{dialed, other.c} {
				if direct := e.(*conn).TCP() != nil; direct == c.tls {
					t.Errorf("writes go to TCP as they are: %v, with TLS: %v", direct, c.tls)
				}
			}
		})
	}
}

func tlsOf(issuer *keys.Issuer) Network {
	return TCP{Config: &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return issuer.Certificate() },
		ClientAuth:           tls.RequestClientCert, InsecureSkipVerify: true,
	}}
}

// A man in the middle who takes frames out of a hello, or puts them in, is noticed:
// the proofs cover the texts.
func TestTheEncodingCannotBeChangedOnTheWay(t *testing.T) {
	ring := keys.Ring{keys.New()}
	for _, c := range []struct{ dialer, forwarded string }{{encodingsKnown, ""}, {encodingsKnown, framesName}, {"", framesName}} {
		from, to := serveStream(t, "n1", Options{Keys: ring}), serveStream(t, "n2", Options{Keys: ring})
		from.encodings = c.dialer
		run(t, from)
		run(t, to)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		relayed := make(chan struct{})
		go func() {
			defer close(relayed)
			near, err := l.Accept()
			if err != nil {
				return
			}
			defer near.Close() //nolint:errcheck // the test ends
			h, err := readHello(near)
			if err != nil {
				return
			}
			h.text = c.forwarded
			far, err := TCP{}.Dial(context.Background(), to.Addr())
			if err != nil {
				return
			}
			defer far.Close() //nolint:errcheck // the test ends
			if _, err := far.Write(h.encode()); err != nil {
				return
			}
			b := make([]byte, 4096)
			n, _ := far.Read(b)
			_, _ = near.Write(b[:n])
			_ = near.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, _ = near.Read(b)
		}()
		if _, err := from.dial(t.Context(), l.Addr().String(), kindRaft); err == nil {
			t.Errorf("a hello of %q that arrived as %q opened a connection", c.dialer, c.forwarded)
		}
		<-relayed
		_ = l.Close()
	}
}
