package client_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// town is nodes that take signals, and say of each other who owns what.
type town struct {
	t     *testing.T
	wires *wires
	hosts map[string]*signalled
	owner atomic.Value // :: string, the owner's address
	stops map[string]func()
	calls int
}

func newTown(t *testing.T, addrs ...string) *town {
	t.Helper()
	k := &town{t: t, wires: newWires(t), hosts: map[string]*signalled{}, stops: map[string]func(){}}
	k.owner.Store(addrs[0])
	for _, addr := range addrs {
		k.hosts[addr] = &signalled{handle: func(context.Context, int) error { return nil }}
		k.stops[addr] = k.wires.serveWith(addr, &fake{}, &fake{}, grpcfront.Options{
			Instances: k.hosts[addr],
			Owner: func(agent.InstanceRef) string {
				if owner := k.owner.Load().(string); owner != addr {
					return owner
				}
				return ""
			},
		})
	}
	return k
}

// signal makes one call, and tells who answered it. It must be answered once.
func (k *town) signal(c *client.Client) (by string) {
	k.t.Helper()
	before := k.heard()
	if _, err := c.Instances().Signal(k.t.Context(), agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"}); err != nil {
		k.t.Fatal(err)
	}
	k.calls++
	for addr, n := range k.heard() {
		if n > before[addr] {
			by += addr
		}
	}
	return by
}

func (k *town) heard() map[string]int {
	heard := map[string]int{}
	for addr, h := range k.hosts {
		h.mu.Lock()
		heard[addr] = len(h.signals)
		h.mu.Unlock()
	}
	return heard
}

// until calls until a node answers: connections are made beside the calls.
func (k *town) until(c *client.Client, addr string) {
	k.t.Helper()
	for end := time.Now().Add(20 * time.Second); k.signal(c) != addr; {
		if time.Now().After(end) {
			k.t.Fatalf("%q is never called: %v", addr, k.heard())
		}
	}
}

func TestCallsGoToTheOwnerOnceItIsKnown(t *testing.T) {
	k := newTown(t, "b:1", "a:1", "c:1")
	c := k.wires.client(client.Options{Endpoints: []string{"a:1"}})
	if by := k.signal(c); by != "a:1" {
		t.Errorf("the first call went to %q", by)
	}
	k.until(c, "b:1")
	for range 20 {
		if by := k.signal(c); by != "b:1" {
			t.Fatalf("a call went to %q: %v", by, k.heard())
		}
	}

	// The partition moves: who had it passes on, and tells.
	k.owner.Store("c:1")
	if by := k.signal(c); by != "b:1" {
		t.Errorf("the first call after the move went to %q", by)
	}
	k.until(c, "c:1")

	// The owner goes: calls go on where they went at first.
	k.owner.Store("a:1")
	k.stops["c:1"]()
	k.until(c, "a:1")
	for range 20 {
		if by := k.signal(c); by != "a:1" {
			t.Fatalf("a call went to %q: %v", by, k.heard())
		}
	}
}

func TestAnOwnerThatRefusesIsForgotten(t *testing.T) {
	k := newTown(t, "b:1", "a:1")
	c := k.wires.client(client.Options{Endpoints: []string{"a:1"}})
	k.until(c, "b:1")
	k.hosts["b:1"].handle = func(context.Context, int) error { return agent.Errorf(agent.CodeUnavailable, "not now") }
	k.owner.Store("a:1")
	if by := k.signal(c); by != "a:1b:1" && by != "b:1a:1" {
		t.Errorf("the call was at %q", by)
	}
	for range 5 {
		if by := k.signal(c); by != "a:1" {
			t.Errorf("a call went to %q", by)
		}
	}
}

func TestAClientOfFixedEndpointsCallsNoOther(t *testing.T) {
	k := newTown(t, "b:1", "a:1")
	c := k.wires.client(client.Options{Endpoints: []string{"a:1"}, Fixed: true})
	for range 50 {
		if by := k.signal(c); by != "a:1" {
			t.Fatalf("a call went to %q", by)
		}
	}
}

func TestAnOwnersAddressThatIsNoneIsNotDialled(t *testing.T) {
	k := newTown(t, "b:1", "a:1")
	c := k.wires.client(client.Options{Endpoints: []string{"a:1"}})
	for _, addr := range []string{"b", ":1", "0.0.0.0:1", "[::]:1", "b:0"} {
		k.owner.Store(addr)
		for range 5 {
			if by := k.signal(c); by != "a:1" {
				t.Fatalf("owner %q: a call went to %q", addr, by)
			}
		}
	}
}

// A server that is leaving ends the calls that it has. Its connection is idle by
// then, but is not to be closed for another's while one is under way.
func TestACallAtAnOwnerThatIsLeavingIsNotBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64 // connections to owners
		addrs := []string{"a:1"}
		for n := range most + 1 {
			addrs = append(addrs, fmt.Sprintf("n%d:1", n))
		}
		k := newTown(t, addrs...)
		c := k.wires.client(client.Options{Endpoints: []string{"a:1"}})
		for _, addr := range addrs[1 : most+1] {
			k.owner.Store(addr)
			k.until(c, addr)
		}
		leaving, gone, late := addrs[most], addrs[1], addrs[most+1]
		begun, end, answered, left := make(chan struct{}), make(chan struct{}), make(chan error), make(chan error)
		k.hosts[leaving].handle = func(context.Context, int) error { close(begun); <-end; return nil }
		go func() {
			_, err := c.Instances().Signal(t.Context(), agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"})
			answered <- err
		}()
		<-begun
		k.wires.unlisten(leaving)
		go func() { left <- k.wires.servers[leaving].Shutdown(t.Context()) }()
		k.stops[gone]() // there is no call at this one
		synctest.Wait()

		k.owner.Store(late)
		k.until(c, late)
		close(end)
		if err := <-answered; err != nil {
			t.Error(err)
		}
		all := 0
		for _, n := range k.heard() {
			all += n
		}
		if all != k.calls+1 {
			t.Errorf("the call was handled %d times", all-k.calls)
		}
		if err := <-left; err != nil {
			t.Error(err)
		}
	})
}
