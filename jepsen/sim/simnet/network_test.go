package simnet_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen/sim/simnet"
	"dormouse/jepsen/sim/trace"
)

// two returns a network with an open connection between two hosts.
func two(t *testing.T, usual simnet.Link) (n *simnet.Network, a, b *simnet.Host, near, far net.Conn) {
	t.Helper()
	n = simnet.New(rand.New(rand.NewPCG(1, 2)), trace.New(nil, nil), usual)
	a, b = n.Host("a", "10.0.0.1"), n.Host("b", "10.0.0.2")
	l, err := b.Listen("b:raft")
	if err != nil {
		t.Fatal(err)
	}
	near, err = a.Dial(t.Context(), "b:raft")
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return n, a, b, near, far
}

func TestBytesArriveInOrderAfterTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, _, near, far := two(t, simnet.Link{Delay: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.2})
		var want bytes.Buffer
		for i := range 200 {
			part := bytes.Repeat([]byte{byte(i)}, 1+i%7)
			want.Write(part)
			if _, err := near.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		got := make([]byte, want.Len())
		if _, err := io.ReadFull(far, got); err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%v, or the bytes differ", err)
		}
		if took := time.Since(began); took < 230*time.Millisecond {
			t.Errorf("of 200 messages with a loss of 20 %%, none was sent again: all took %v", took)
		}
	})
}

func TestACutLinkDelaysOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _, _, near, far := two(t, simnet.Link{Delay: time.Millisecond})
		n.Set("a", "b", func(l *simnet.Link) { l.Cut = true })
		time.AfterFunc(time.Minute, n.Heal)
		began := time.Now()
		for _, c := range []net.Conn{near, far} {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, 1)
		if _, err := near.Read(got); err != nil || time.Since(began) > time.Second {
			t.Errorf("the way back took %v, %v", time.Since(began), err)
		}
		if _, err := far.Read(got); err != nil || time.Since(began) < time.Minute {
			t.Errorf("the way that was cut took %v, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n.Set("b", "a", func(l *simnet.Link) { l.Cut = true })
		if _, err := n.Host("a", "").Dial(ctx, "b:raft"); err == nil {
			t.Error("a connection was made over a cut link")
		}
	})
}

// If only one direction ended, gRPC would send again and again without a pause.
func TestAResetEndsBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b, near, _ := two(t, simnet.Link{})
		b.Kill(true) // as a power failure: nothing tells the other end
		if _, err := near.Write([]byte("x")); err == nil {
			t.Error("a host that has ended took bytes")
		}
		if _, err := near.Read(make([]byte, 1)); err == nil {
			t.Error("the connection can still be read")
		}
		if n.Open("b") != 0 {
			t.Errorf("the host that ended has %d connections", n.Open("b"))
		}
		if _, err := b.Listen("b:raft"); err == nil {
			t.Error("a process that has ended can listen")
		}
		if _, err := a.Dial(t.Context(), "b:raft"); err == nil {
			t.Error("a process that has ended accepts connections")
		}
		if l, err := n.Host("b", "10.0.0.2").Listen("b:raft"); err != nil {
			t.Errorf("the next process of the host cannot listen: %v", err)
		} else if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPacketsAreLostAndDuplicated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simnet.New(rand.New(rand.NewPCG(1, 2)), nil, simnet.Link{Delay: time.Millisecond, Loss: 0.3, Duplicate: 0.3})
		from, err := n.Host("a", "10.0.0.1").Gossip("10.0.0.1:7603")
		if err != nil {
			t.Fatal(err)
		}
		to, err := n.Host("b", "10.0.0.2").Gossip("10.0.0.2:7603")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			if _, err := from.WriteTo([]byte{byte(i)}, "10.0.0.2:7603"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		got := map[byte]int{}
		for len(to.PacketCh()) > 0 {
			got[(<-to.PacketCh()).Buf[0]]++
		}
		twice := 0
		for _, times := range got {
			if times == 2 {
				twice++
			}
		}
		if len(got) < 100 || len(got) > 180 || twice < 20 {
			t.Errorf("of 200 packets %d arrived, %d of them twice", len(got), twice)
		}
		for _, g := range []*simnet.Gossip{from, to} {
			if err := g.Shutdown(); err != nil {
				t.Error(err)
			}
		}
	})
}
