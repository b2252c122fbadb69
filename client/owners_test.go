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

// ownerCluster is a set of nodes that accept signals and name the owner.
type ownerCluster struct {
	t     *testing.T
	wires *wires
	hosts map[string]*signalled
	owner atomic.Value // :: string, the owner's address
	stops map[string]func()
	calls int
}

func newOwnerCluster(t *testing.T, addrs ...string) *ownerCluster {
	t.Helper()
	k := &ownerCluster{t: t, wires: newWires(t), hosts: map[string]*signalled{}, stops: map[string]func(){}}
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

// signal makes one call, and returns the node that answered it, which must be one.
func (k *ownerCluster) signal(c *client.Client) (by string) {
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

func (k *ownerCluster) heard() map[string]int {
	heard := map[string]int{}
	for addr, h := range k.hosts {
		h.mu.Lock()
		heard[addr] = len(h.signals)
		h.mu.Unlock()
	}
	return heard
}

// until makes calls until a node answers; connections are made in the background.
func (k *ownerCluster) until(c *client.Client, addr string) {
	k.t.Helper()
	for end := time.Now().Add(20 * time.Second); k.signal(c) != addr; {
		if time.Now().After(end) {
			k.t.Fatalf("%q is never called: %v", addr, k.heard())
		}
	}
}

func TestCallsGoToTheOwnerOnceItIsKnown(t *testing.T) {
	k := newOwnerCluster(t, "b:1", "a:1", "c:1")
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

	// The partition moves: the previous owner forwards the call and names the new one.
	k.owner.Store("c:1")
	if by := k.signal(c); by != "b:1" {
		t.Errorf("the first call after the move went to %q", by)
	}
	k.until(c, "c:1")

	// The owner stops: calls go to the first endpoint again.
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
	k := newOwnerCluster(t, "b:1", "a:1")
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
	k := newOwnerCluster(t, "b:1", "a:1")
	c := k.wires.client(client.Options{Endpoints: []string{"a:1"}, Fixed: true})
	for range 50 {
		if by := k.signal(c); by != "a:1" {
			t.Fatalf("a call went to %q", by)
		}
	}
}

func TestAnInvalidAddressOfAnOwnerIsNotDialled(t *testing.T) {
	k := newOwnerCluster(t, "b:1", "a:1")
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

// A server that shuts down finishes its calls. Its connection is idle by then, but
// must not be closed for another one while a call is running.
func TestACallAtAnOwnerThatIsLeavingIsNotBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64 // connections to owners
		addrs := []string{"a:1"}
		for n := range most + 1 {
			addrs = append(addrs, fmt.Sprintf("n%d:1", n))
		}
		k := newOwnerCluster(t, addrs...)
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
		k.stops[gone]() // it has no running call
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
