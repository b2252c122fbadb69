package client_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// A node that allows few streams of a connection, and how many calls a client makes at once.
const (
	streamsOfConn = 100
	callsAtOnce   = 2*streamsOfConn + 50
)

// slowly handles signals that take 5 s each.
func slowly() *signalled {
	return &signalled{handle: func(ctx context.Context, _ int) error {
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
		}
		return nil
	}}
}

// signalAtOnce sends callsAtOnce signals.
func signalAtOnce(t *testing.T, c *client.Client) {
	t.Helper()
	var wait sync.WaitGroup
	for i := range callsAtOnce {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.Instances().Signal(ctx, agent.InstanceRef{Manager: "m", Key: fmt.Sprint("k", i)}, agent.Signal{Type: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// More slow calls at once than a connection may have streams are handled once each, and at once.
func TestSlowCallsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f, host := newWires(t), &fake{}, slowly()
		w.serveWith("a", f, f, grpcfront.Options{Instances: host, StreamsMax: streamsOfConn})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		began := time.Now()
		signalAtOnce(t, c)
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("they took %v", took)
		}
		if n := len(host.signals); n != callsAtOnce {
			t.Errorf("%d signals came, want %d", n, callsAtOnce)
		}
	})
}

// The same holds for calls that go to their owner.
func TestSlowCallsDoNotWaitForEachOtherAtTheirOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		hosts := map[string]*signalled{"a:1": slowly(), "b:1": slowly()}
		for addr, host := range hosts {
			f := &fake{}
			w.serveWith(addr, f, f, grpcfront.Options{Instances: host, StreamsMax: streamsOfConn, Owner: func(agent.InstanceRef) string {
				if addr == "a:1" {
					return "b:1"
				}
				return ""
			}})
		}
		c := w.client(client.Options{Endpoints: []string{"a:1"}})
		for range 4 { // the first learns the owner; each of the others needs another connection to it
			signalAtOnce(t, c)
		}
		before := len(hosts["b:1"].signals)
		signalAtOnce(t, c)
		if n := len(hosts["b:1"].signals) - before; n != callsAtOnce {
			t.Errorf("the owner got %d signals, want %d", n, callsAtOnce)
		}
		if n := len(hosts["a:1"].signals) + len(hosts["b:1"].signals); n != 5*callsAtOnce {
			t.Errorf("%d signals came, want %d", n, 5*callsAtOnce)
		}
	})
}

// More watches than a connection may have streams all get their entries.
func TestWatchesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWires(t), newJournal()
		j.append(1)
		f := j.fake()
		w.serveWith("a", f, f, grpcfront.Options{StreamsMax: streamsOfConn})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var watchers, begun sync.WaitGroup
		begun.Add(callsAtOnce)
		for range callsAtOnce {
			watchers.Go(func() {
				n := 0
				for _, err := range c.Watch(ctx, agent.Watch{Thread: "t"}) {
					if err != nil {
						t.Error(err)
					}
					n++
					begun.Done()
				}
				if n == 0 {
					t.Error("a watch got nothing")
					begun.Done()
				}
			})
		}
		begun.Wait()
		cancel()
		watchers.Wait()
	})
}

// A connection over which nothing comes back any more, such as one of a balancer to a node that has vanished, is found although
// another one to the same address answers. The calls of that one stay where they are.
func TestASilentConnectionIsFoundBesideAnotherToItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		const shared = 96 // calls of a connection
		host := &signalled{handle: func(_ context.Context, attempt int) error {
			wait := 300 * time.Millisecond
			if attempt < shared {
				wait = 20 * time.Second
			}
			time.Sleep(wait)
			return nil
		}}
		w.serveWith("a", f, f, grpcfront.Options{Instances: host})
		var newest atomic.Pointer[atomic.Bool] // mutes the newest connection
		c, err := client.Dial(client.Options{Endpoints: []string{"a"}, Fixed: true, Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			newest.Store(new(atomic.Bool))
			return w.muting("a", newest.Load())(ctx, addr)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		send := func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.Instances().Signal(ctx, agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"}); err != nil {
				t.Error(err)
			}
		}
		var first sync.WaitGroup
		for range shared { // one of them is brief, so that there is room for another attempt at the last one
			first.Go(send)
		}
		time.Sleep(100 * time.Millisecond)
		time.AfterFunc(200*time.Millisecond, func() { newest.Load().Store(true) })
		began := time.Now()
		send()
		if took := time.Since(began); took > 2*time.Second { // gRPC itself finds it after 15 s
			t.Errorf("it took %v", took)
		}
		first.Wait()
		if n := len(host.signals); n != shared+2 {
			t.Errorf("%d signals came, want %d and two attempts at the last one", n, shared)
		}
	})
}
