package packet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"dormouse/jepsen/testbed/packet"
)

// pair has two hosts, a and b, on a network.
type pair struct {
	*packet.Switch
	a, b *packet.Namespace
}

const port = 7602

var addrB = netip.MustParseAddr("10.77.0.2")

func newPair(tb testing.TB) *pair {
	tb.Helper()
	a, err := packet.NewNamespace()
	if errors.Is(err, syscall.EPERM) {
		tb.Skipf("needs root: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	b, err := packet.NewNamespace()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	s := packet.New(netip.MustParsePrefix("10.77.0.0/24"), map[uint16]packet.Class{port: raft})
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	err = s.Attach("a", a, netip.MustParseAddr("10.77.0.1"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		tb.Skipf("needs TUN devices: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Attach("b", b, addrB); err != nil {
		tb.Fatal(err)
	}
	return &pair{s, a, b}
}

func (p *pair) set(tb testing.TB, from, to string, class packet.Class, l packet.Link) {
	tb.Helper()
	if err := p.Set(from, to, class, l); err != nil {
		tb.Fatal(err)
	}
}

// echoes serves a port of b: it sends back what it receives, and tells how the connections end.
func (p *pair) echoes(tb testing.TB, port int) <-chan error {
	tb.Helper()
	var l net.Listener
	err := p.b.Do(func() (err error) {
		l, err = net.Listen("tcp4", net.JoinHostPort(addrB.String(), strconv.Itoa(port)))
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	ended := make(chan error, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // nothing is lost
				_, err := io.Copy(conn, conn)
				ended <- err
			}()
		}
	}()
	return ended
}

// dial connects from a to b.
func (p *pair) dial(ctx context.Context, port int) (conn net.Conn, err error) {
	err = p.a.Do(func() error {
		var d net.Dialer
		conn, err = d.DialContext(ctx, "tcp4", net.JoinHostPort(addrB.String(), strconv.Itoa(port)))
		return err
	})
	return conn, err
}

// echo sends a byte to and fro, and returns how long that took.
func echo(conn net.Conn, wait time.Duration) (time.Duration, error) {
	began := time.Now()
	if err := conn.SetDeadline(began.Add(wait)); err != nil {
		return 0, err
	}
	if _, err := conn.Write([]byte{1}); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return time.Since(began), err
}

func TestConnectionsFeelTheLink(t *testing.T) {
	p := newPair(t)
	p.echoes(t, port)
	conn, err := p.dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	if _, err := echo(conn, 5*time.Second); err != nil {
		t.Fatalf("a sound link: %v", err)
	}

	p.set(t, "a", "b", raft, packet.Link{Delay: 60 * ms})
	p.set(t, "b", "a", packet.All, packet.Link{Delay: 40 * ms})
	if took, err := echo(conn, 5*time.Second); err != nil || took < 100*ms || took > 2*time.Second {
		t.Errorf("100 ms to and fro took %v: %v", took, err)
	}
	p.HealAll()
	best := time.Hour // of several: others use the machine too
	for range 20 {
		took, err := echo(conn, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, took)
	}
	if best >= 100*ms {
		t.Errorf("a healed link takes %v", best)
	}

	p.set(t, "b", "a", raft, packet.Link{Cut: true}) // one way
	if _, err := echo(conn, 100*ms); err == nil {
		t.Error("an answer came through a cut")
	}
	p.HealAll()
	if _, err := io.ReadFull(conn, make([]byte, 1)); err == nil {
		t.Error("the deadline did not hold")
	}
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Errorf("TCP did not send again what the cut had lost: %v", err)
	}

	p.set(t, "a", "b", packet.All, packet.Link{Corrupt: 1})
	if _, err := echo(conn, 100*ms); err == nil {
		t.Error("garbled packets were taken for sound ones: are checksums offloaded?")
	}
}

func TestAPoorLinkStillCarriesEverything(t *testing.T) {
	p := newPair(t)
	p.echoes(t, port)
	poor := packet.Link{Delay: ms, Jitter: ms, Loss: 0.02, Duplicate: 0.05, Reorder: 0.05, Corrupt: 0.02}
	p.set(t, "a", "b", packet.All, poor)
	p.set(t, "b", "a", packet.All, poor)
	conn, err := p.dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	sent := make([]byte, 300_000)
	for i := range sent {
		sent[i] = byte(i * i >> 7)
	}
	go func() { _, _ = conn.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != string(sent) {
		t.Error("the bytes came out different")
	}
}

func TestACutLeavesOtherClassesAlone(t *testing.T) {
	p := newPair(t)
	p.echoes(t, port)
	p.echoes(t, port+1)
	p.set(t, "a", "b", raft, packet.Link{Cut: true})
	conn, err := p.dial(t.Context(), port+1)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
	defer cancel()
	if _, err := p.dial(ctx, port); err == nil {
		t.Error("connected through a cut")
	}
}

func TestARefusedLinkEndsConnections(t *testing.T) {
	p := newPair(t)
	ended := p.echoes(t, port)
	conn, err := p.dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	if _, err := echo(conn, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	p.set(t, "a", "b", packet.All, packet.Link{Refuse: true})
	if _, err := echo(conn, 5*time.Second); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection that is refused: %v", err)
	}
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("its other end: %v", err)
	}
	if _, err := p.dial(t.Context(), port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialed: %v", err)
	}
	p.HealAll()
	again, err := p.dial(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()                                       //nolint:errcheck // nothing is lost
	p.set(t, "b", "a", packet.All, packet.Link{Refuse: true}) // b is no client
	if _, err := echo(again, 5*time.Second); err != nil {
		t.Errorf("an answer was refused: %v", err)
	}
}

func TestAttachRefusesWhatCannotBe(t *testing.T) {
	p := newPair(t)
	for name, addr := range map[string]string{"a": "10.77.0.3", "x": "10.77.0.2", "y": "10.78.0.3"} {
		if err := p.Attach(name, p.a, netip.MustParseAddr(addr)); err == nil {
			t.Errorf("attached %s at %s", name, addr)
		}
	}
	if err := p.Set("a", "nobody", packet.All, packet.Link{}); err == nil {
		t.Error("set a link to nobody")
	}
}

// BenchmarkThroughput measures the bytes through the switch, one way.
func BenchmarkThroughput(b *testing.B) {
	p := newPair(b)
	var l net.Listener
	if err := p.b.Do(func() (err error) { l, err = net.Listen("tcp4", addrB.String()+":7602"); return err }); err != nil {
		b.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing is lost
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	conn, err := p.dial(b.Context(), port)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	chunk := make([]byte, 64<<10)
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := conn.Write(chunk); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRoundTrip measures the round trip of a byte.
func BenchmarkRoundTrip(b *testing.B) {
	p := newPair(b)
	p.echoes(b, port)
	conn, err := p.dial(b.Context(), port)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	for b.Loop() {
		if _, err := echo(conn, time.Minute); err != nil {
			b.Fatal(err)
		}
	}
}
