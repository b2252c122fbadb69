package simnet_test

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen/sim/simnet"
)

func TestARefusedHostIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b, near, far := two(t, simnet.Link{Delay: time.Millisecond})
		if _, err := b.Listen("b:other"); err != nil {
			t.Fatal(err)
		}
		if _, err := near.Write([]byte("lost")); err != nil {
			t.Fatal(err)
		}
		n.Refuse("a", "b", true)
		for _, c := range []interface{ Read([]byte) (int, error) }{near, far} {
			if _, err := c.Read(make([]byte, 4)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a read of an open connection: %v", err)
			}
		}
		began := time.Now()
		if _, err := a.Dial(t.Context(), "b:other"); !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > 10*time.Millisecond {
			t.Errorf("a new connection: %v after %v", err, time.Since(began))
		}
		n.Refuse("a", "b", false)
		if _, err := a.Dial(t.Context(), "b:other"); err != nil {
			t.Errorf("once it refuses no more: %v", err)
		}
		n.Refuse("a", "b", true)
		n.Heal()
		if _, err := a.Dial(t.Context(), "b:other"); err != nil {
			t.Errorf("once the network is healed: %v", err)
		}
	})
}

// The other direction stays as it is.
func TestARefusedHostMayBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b, near, far := two(t, simnet.Link{Delay: time.Millisecond})
		if _, err := a.Listen("a:raft"); err != nil {
			t.Fatal(err)
		}
		n.Refuse("b", "a", true)
		if _, err := near.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if got, err := far.Read(make([]byte, 1)); got != 1 || err != nil {
			t.Errorf("on a connection that the other host made: %d, %v", got, err)
		}
		if _, err := b.Dial(t.Context(), "a:raft"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the direction that is refused: %v", err)
		}
	})
}
