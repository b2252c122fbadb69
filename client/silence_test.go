package client_test

import (
	"context"
	"errors"
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

// muteConn is a connection over which nothing comes back while it is muted. A write takes a millisecond.
type muteConn struct {
	net.Conn
	muted *atomic.Bool
}

func (c muteConn) Write(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return c.Conn.Write(b)
}

func (c muteConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.muted.Load() {
			return n, err
		}
	}
}

// muting returns a dialer. Nothing comes back from the node at addr while it is muted.
func (w *wires) muting(addr string, muted *atomic.Bool) client.Dialer {
	return func(ctx context.Context, to string) (net.Conn, error) {
		conn, err := w.dial(ctx, to)
		if err != nil || to != addr {
			return conn, err
		}
		return muteConn{conn, muted}, nil
	}
}

// A node that vanishes without a word delays a call by twice the silence, not by a whole attempt: its
// other calls go to another node at once, and each is applied once. That holds for a call that is too
// long for one frame's buffer, and for calls that are so together.
func TestCallsLeaveANodeThatIsSilent(t *testing.T) {
	for name, c := range map[string]struct{ calls, bytes int }{"short": {1, 1}, "long": {1, 100 << 10}, "long together": {128, 1 << 10}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { leavesASilentNode(t, c.calls, c.bytes) })
		})
	}
}

// between returns a client of the nodes a and b. Nothing comes back from a while muted is set.
func between(t *testing.T, a, b *fake) (c *client.Client, muted *atomic.Bool) {
	t.Helper()
	w := newWires(t)
	w.serve("a", a, a)
	w.serve("b", b, b)
	muted = new(atomic.Bool)
	c, err := client.Dial(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, Dialer: w.muting("a", muted)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, muted
}

func leavesASilentNode(t *testing.T, calls, bytes int) {
	t.Helper()
	b := &fake{}
	c, muted := between(t, &fake{}, b)
	if _, err := c.Commit(t.Context(), put("k")); err != nil {
		t.Fatal(err)
	}
	muted.Store(true)
	began := time.Now()
	var wait sync.WaitGroup
	for i := range calls {
		wait.Go(func() {
			op := &agent.PutValue{Key: fmt.Sprint("k", i), Bytes: make([]byte, bytes)}
			if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{op}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if took := time.Since(began); took > 1100*time.Millisecond {
		t.Errorf("the commits took %v", took)
	}
	if n := len(b.seen()); n != calls {
		t.Errorf("b served %d commits", n)
	}
}

// A client of one endpoint, such as the address of a balancer, makes a new connection after one attempt if its connection is lost
// and the endpoint still answers others, also for a long call.
func TestAClientOfOneEndpointLeavesASilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		f := &fake{}
		w.serve("a", f, f)
		var muted atomic.Pointer[atomic.Bool] // of the connections that are made from now on
		muted.Store(new(atomic.Bool))
		c, err := client.Dial(client.Options{Endpoints: []string{"a"}, Fixed: true, Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			return w.muting("a", muted.Load())(ctx, addr)
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		muted.Swap(new(atomic.Bool)).Store(true)
		began := time.Now()
		op := &agent.PutValue{Key: "k", Bytes: make([]byte, 100<<10)}
		if _, err := c.Commit(t.Context(), agent.Commit{Ops: []agent.Op{op}}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 3500*time.Millisecond {
			t.Errorf("the commit took %v", took)
		}
	})
}

// lookups are instances that Lookup does not find, and that Start refuses.
type lookups struct{ agent.Instances }

func (lookups) Lookup(context.Context, agent.InstanceRef) (agent.Instance, error) {
	return agent.Instance{}, agent.ErrNotFound
}

func (lookups) Start(context.Context, agent.InstanceRef, agent.StartInstance) (agent.Instance, error) {
	return agent.Instance{}, agent.Errorf(agent.CodeForbidden, "no")
}

// A read that a silent node does not answer has the answer of another node, whatever that is. The silent
// node may have handled a change, so a refusal of another node does not settle that.
func TestReadsLeaveANodeThatIsSilent(t *testing.T) {
	for name, read := range map[string]func(context.Context, *client.Client) error{
		"lookup": func(ctx context.Context, c *client.Client) error {
			if _, err := c.Instances().Lookup(ctx, agent.InstanceRef{Manager: "m", Key: "k"}); !errors.Is(err, agent.ErrNotFound) {
				return fmt.Errorf("want not found, got: %w", err)
			}
			return nil
		},
		"start": func(ctx context.Context, c *client.Client) error {
			if _, err := c.Instances().Start(ctx, agent.InstanceRef{Manager: "m", Key: "k"}, agent.StartInstance{}); agent.CodeOf(err) != agent.CodeUnknown {
				return fmt.Errorf("want unknown, got: %w", err)
			}
			return nil
		},
		"status":     func(ctx context.Context, c *client.Client) error { _, err := c.Status(ctx); return err },
		"join token": func(ctx context.Context, c *client.Client) error { _, err := c.JoinToken(ctx, time.Hour); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires(t)
				for _, addr := range []string{"a", "b"} {
					f := &fake{}
					w.serveWith(addr, f, f, grpcfront.Options{Instances: lookups{}})
				}
				var muted atomic.Bool
				c, err := client.Dial(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, Dialer: w.muting("a", &muted)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				if _, err := c.Commit(t.Context(), put("k")); err != nil { // connects to a
					t.Fatal(err)
				}
				muted.Store(true)
				if err := read(t.Context(), c); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func (lookups) Stop(context.Context, agent.InstanceRef) error { return nil }

// A change that is not sent again ends as unknown at a silent node. The client then connects to another node, and
// uses that for the next calls.
func TestTheCallAfterASilentChangeGoesElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		for _, addr := range []string{"a", "b"} {
			f := &fake{}
			w.serveWith(addr, f, f, grpcfront.Options{Instances: lookups{}})
		}
		var muted atomic.Bool
		c, err := client.Dial(client.Options{Endpoints: []string{"a", "b"}, Fixed: true, Dialer: w.muting("a", &muted)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := c.Commit(t.Context(), put("k")); err != nil { // connects to a
			t.Fatal(err)
		}
		muted.Store(true)
		ref := agent.InstanceRef{Manager: "m", Key: "k"}
		if err := c.Instances().Stop(t.Context(), ref); agent.CodeOf(err) != agent.CodeUnknown {
			t.Fatalf("stopped: %v", err)
		}
		synctest.Wait() // until it has connected to b
		began := time.Now()
		if err := c.Instances().Stop(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("the next call took %v", took)
		}
	})
}

// A node that is slow to answer a call, but answers others, keeps the call.
func TestACallThatTakesLongStaysAtItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		a, b := &fake{submit: func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
			time.AfterFunc(2900*time.Millisecond, func() { done(agent.Result{}, nil) })
		}}, &fake{}
		w.serve("a", a, a)
		w.serve("b", b, b)
		c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		if len(a.seen()) != 1 || len(b.seen()) != 0 {
			t.Errorf("a served %d commits, b %d", len(a.seen()), len(b.seen()))
		}
	})
}

// A watch at a node that vanishes without a word continues at another one as soon as the client has noticed that, and
// not once its own connection is found to be dead.
func TestAWatchLeavesANodeThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		c, muted := between(t, j.fake(), j.fake())
		ctx, cancel := context.WithCancel(t.Context())
		var watcher sync.WaitGroup
		var got atomic.Int64
		watcher.Go(func() {
			for _, err := range c.Watch(ctx, agent.Watch{Thread: "t"}) {
				if err != nil {
					t.Error(err)
				}
				got.Add(1)
			}
		})
		j.append(1)
		time.Sleep(time.Second)
		muted.Store(true)
		if _, err := c.Commit(t.Context(), put("k")); err != nil { // notices it
			t.Error(err)
		}
		j.append(1)
		time.Sleep(time.Second)
		if n := got.Load(); n != 2 {
			t.Errorf("%d of 2 entries have come", n)
		}
		cancel()
		watcher.Wait()
	})
}
