package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// written returns how many commits of put("k") a store has applied: each one makes a
// revision.
func written(t *testing.T, store *memstore.Store) int {
	t.Helper()
	answers, err := store.Read(t.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
	if err != nil || answers.Answers[0].Err != nil {
		t.Fatalf("%+v, %v", answers, err)
	}
	return int(answers.Answers[0].Found.(*agent.Value).Revision)
}

// Nodes are killed and restarted one after another under load: every call succeeds,
// and each commit is applied once.
func TestARollingRestartFailsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWires(t), memstore.New()
		serve := func(addr string) func() {
			f := &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
				result, err := store.Commit(context.Background(), c)
				time.AfterFunc(30*time.Millisecond, func() { done(result, err) })
			}}
			return w.serve(addr, f, f)
		}
		addrs := []string{"a", "b", "c"}
		stop := map[string]func(){}
		for _, a := range addrs {
			stop[a] = serve(a)
		}
		c := w.client(client.Options{Endpoints: addrs, Fixed: true})
		ctx, cancel := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		const many = 16
		calls := make([]int, many)
		for i := range many {
			callers.Go(func() {
				for ctx.Err() == nil {
					if _, err := c.Commit(context.Background(), put("k")); err != nil {
						t.Error(err)
					}
					if _, err := c.Read(context.Background(), agent.Reads{Reads: []agent.Read{&agent.GetScope{}}}); err != nil {
						t.Error(err)
					}
					calls[i]++
				}
			})
		}
		for range 3 {
			for _, a := range addrs {
				time.Sleep(500 * time.Millisecond)
				stop[a]()
				time.Sleep(300 * time.Millisecond)
				stop[a] = serve(a)
			}
		}
		cancel()
		callers.Wait()
		total := 0
		for _, n := range calls {
			total += n
		}
		if n := written(t, store); n != total || total < many*100 {
			t.Errorf("%d calls were applied %d times", total, n)
		}
	})
}

// During changes of leaders, nodes answer unavailable or unknown, at random from the
// client's view.
func TestLeaderChangesNeitherLoseNorRepeatCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWires(t), memstore.New()
		began := time.Now()
		for i, addr := range []string{"a", "b", "c"} {
			f := &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
				leader := int(time.Since(began)/(150*time.Millisecond)) % 4 // 3: no leader
				switch {
				case time.Since(began) < 3*time.Second && leader != i:
					done(agent.Result{}, code(agent.CodeUnavailable))
				case time.Since(began) < 3*time.Second && c.Request.Seq%2 == 0:
					_, _ = store.Commit(context.Background(), c)
					done(agent.Result{}, code(agent.CodeUnknown))
				default:
					done(store.Commit(context.Background(), c))
				}
			}}
			w.serve(addr, f, f)
		}
		c := w.client(client.Options{Endpoints: []string{"a", "b", "c"}, Fixed: true})
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if _, err := c.Commit(context.Background(), put("k")); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if n := written(t, store); n != 100 {
			t.Errorf("100 commits were applied %d times", n)
		}
	})
}

func member(addr string, leader bool) layout.MemberStatus {
	return layout.MemberStatus{Member: layout.Member{ID: "n" + addr, GRPCAddr: addr}, Leader: leader}
}

func TestMembersAreLearnedAndTheLeaderIsPreferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		status := func() (layout.ClusterStatus, error) {
			return layout.ClusterStatus{Leader: "nb:1", Members: []layout.MemberStatus{
				member("a:1", false), member("b:1", true), member("0.0.0.0:1", false), member("", false),
			}}, nil
		}
		a, b := &fake{status: status}, &fake{status: status}
		stopA := w.serve("a:1", a, a)
		w.serve("b:1", b, b)
		c := w.client(client.Options{Endpoints: []string{"a:1"}, PreferLeader: true})
		commit := func() {
			t.Helper()
			if _, err := c.Commit(t.Context(), put("k")); err != nil {
				t.Error(err)
			}
		}
		commit()
		time.Sleep(time.Second)
		commit()
		if len(a.seen()) != 1 || len(b.seen()) != 1 {
			t.Errorf("a served %d, b %d", len(a.seen()), len(b.seen()))
		}
		stopA()
		commit()
		time.Sleep(5 * time.Minute)
		commit()
		if len(b.seen()) != 3 {
			t.Errorf("b served %d", len(b.seen()))
		}
	})
}

// A client that is dialled while its cluster is down works once the cluster is up.
func TestACallSucceedsOnceTheClusterIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
		time.AfterFunc(5*time.Second, func() { w.serve("b", f, f) })
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Error(err)
		}
		if r := f.seen()[0].Request; r.TTL != 0 {
			t.Errorf("a commit that was never sent before goes out as a retry: %+v", r)
		}
	})
}

func TestOperatorCallsAreRetriedOnlyWhereNothingWasDone(t *testing.T) {
	for name, tc := range map[string]struct {
		first *agent.Error
		want  agent.Code
		calls int
	}{
		"unavailable": {code(agent.CodeUnavailable), "", 2},
		"unknown":     {code(agent.CodeUnknown), agent.CodeUnknown, 1},
		"invalid":     {code(agent.CodeInvalid), agent.CodeInvalid, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, n := newWires(t), 0
				f := &fake{change: func(_ context.Context, ch layout.Change, node string) (string, error) {
					if n++; n == 1 {
						return "", tc.first
					}
					return fmt.Sprint(ch, " ", node), nil
				}}
				w.serve("a", f, f)
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				leader, err := c.Change(t.Context(), layout.ChangeDemote, "n2")
				if agent.CodeOf(err) != tc.want || n != tc.calls || err == nil && leader != "demote n2" {
					t.Errorf("%q, %v after %d calls", leader, err, n)
				}
			})
		})
	}
}

// counter counts the bytes written to it, up to a limit.
type counter struct{ n, most int }

func (c *counter) Write(p []byte) (int, error) {
	if c.n+len(p) > c.most {
		return 0, io.ErrShortWrite
	}
	c.n += len(p)
	return len(p), nil
}

func TestABackupIsWrittenWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		out := &counter{most: 1 << 30}
		if err := c.Backup(t.Context(), out); err != nil || out.n != 1<<20 {
			t.Errorf("%d bytes, %v", out.n, err)
		}
		if err := c.Backup(t.Context(), &counter{most: 300 << 10}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a full disk: %v", err)
		}
		if s, err := c.Status(t.Context()); err != nil || s.ClusterID != "c" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// The only node of a cluster is replaced by another one. A client that knew only the
// first node learns the second from it before it is gone.
func TestAClientFollowsAClusterThatIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		var replaced atomic.Bool
		first := &fake{
			status: func() (layout.ClusterStatus, error) {
				s := layout.ClusterStatus{ClusterID: "c", Members: []layout.MemberStatus{{Member: layout.Member{ID: "n1", GRPCAddr: "a:1"}}}}
				if replaced.Load() {
					s.Members = append(s.Members, layout.MemberStatus{Member: layout.Member{ID: "n2", GRPCAddr: "b:1"}})
				}
				return s, nil
			},
			submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
				if !replaced.Load() {
					done(fine(c), nil)
				}
			},
		}
		stop := w.serve("a:1", first, first)
		second := &fake{}
		w.serve("b:1", second, second)
		c := w.client(client.Options{Endpoints: []string{"a:1"}})
		if _, err := c.Commit(within(t, time.Second), put("k")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // the members are read: n1 only
		replaced.Store(true)
		time.AfterFunc(6*time.Second, stop)
		if _, err := c.Commit(within(t, 10*time.Second), put("k")); err != nil {
			t.Errorf("the second node is up: %v", err)
		}
	})
}

// A client that knows one node asks it more often for the members: it may be replaced in a few seconds,
// and then be gone without a word.
func TestAClientOfOneNodeLearnsTheNextInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		var joined, gone atomic.Bool
		first := &fake{status: func() (layout.ClusterStatus, error) {
			if gone.Load() {
				return layout.ClusterStatus{}, agent.Errorf(agent.CodeUnavailable, "it stops")
			}
			s := layout.ClusterStatus{Node: "na:1", Members: []layout.MemberStatus{member("a:1", true)}}
			if joined.Load() {
				s.Members = append(s.Members, member("b:1", false))
			}
			return s, nil
		}}
		stop := w.serve("a:1", first, first)
		second := &fake{}
		w.serve("b:1", second, second)
		c := w.client(client.Options{Endpoints: []string{"a:1"}})
		if _, err := c.Commit(t.Context(), put("k")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		joined.Store(true)
		time.Sleep(4 * time.Second)
		gone.Store(true)
		stop()
		if _, err := c.Commit(within(t, 5*time.Second), put("k")); err != nil || len(second.seen()) != 1 {
			t.Errorf("%v; the second node served %d commits", err, len(second.seen()))
		}
	})
}

// A stopping node, for example a removed one, sends the addresses of the other nodes,
// because clients cannot ask it afterwards.
func TestANodeThatStopsSaysWhereTheOthersAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		var replaced atomic.Bool
		first := &fake{status: func() (layout.ClusterStatus, error) {
			s := layout.ClusterStatus{Node: "n1", Members: []layout.MemberStatus{{Member: layout.Member{ID: "n1", GRPCAddr: "a:1"}}}}
			if replaced.Load() {
				s.Members = []layout.MemberStatus{{Member: layout.Member{ID: "n2", GRPCAddr: "b:1"}}}
			}
			return s, nil
		}}
		front := grpcfront.New(first, first, grpcfront.Options{})
		l := w.listen("a:1")
		go func() { _ = front.Serve(l) }()
		second := &fake{}
		w.serve("b:1", second, second)
		c := w.client(client.Options{Endpoints: []string{"a:1"}})
		if _, err := c.Commit(within(t, time.Second), put("k")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		replaced.Store(true)
		w.unlisten("a:1")
		if err := front.Shutdown(within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Commit(within(t, 10*time.Second), put("k")); err != nil || len(second.seen()) != 1 {
			t.Errorf("the second node is up, and was asked %d times: %v", len(second.seen()), err)
		}
	})
}

// A link that lasted resets the pause before the next dial: one that breaks now and then is made again at once.
func TestALinkThatBreaksNowAndThenIsSoonMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{}
		w.serve("a", f, f)
		var mu sync.Mutex
		var conns []net.Conn
		c, err := client.Dial(client.Options{Endpoints: []string{"a"}, Fixed: true, Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := w.dial(ctx, addr)
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
			return conn, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		for range 11 {
			began := time.Now()
			if _, err := c.Commit(t.Context(), put("k")); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("a commit took %v", took)
			}
			time.Sleep(time.Minute)
			mu.Lock()
			for _, conn := range conns {
				_ = conn.Close()
			}
			conns = nil
			mu.Unlock()
			synctest.Wait()
		}
	})
}

// A client that may not see the cluster asks for the members hourly: nodes record each refusal in their audit logs.
func TestAClientThatMayNotSeeTheClusterRarelyAsks(t *testing.T) {
	for _, code := range []agent.Code{agent.CodeForbidden, agent.CodeUnauthenticated} {
		synctest.Test(t, func(t *testing.T) {
			w := newWires(t)
			var asked atomic.Int64
			f := &fake{status: func() (layout.ClusterStatus, error) {
				asked.Add(1)
				return layout.ClusterStatus{}, agent.Errorf(code, "you may not see that")
			}}
			w.serve("a:1", f, f)
			c := w.client(client.Options{Endpoints: []string{"a:1"}})
			if _, err := c.Commit(t.Context(), put("k")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if n := asked.Load(); n != 1 {
				t.Errorf("%s: asked %d times in a minute, want once", code, n)
			}
			time.Sleep(time.Hour)
			if n := asked.Load(); n != 2 {
				t.Errorf("%s: asked %d times in an hour, want twice", code, n)
			}
		})
	}
}
