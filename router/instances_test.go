package router_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
	"dormouse/router"
)

var errScripted = errors.New("not scripted")

// table has one owner for all partitions.
type table struct {
	alone   bool // "a" is the only member
	mu      sync.Mutex
	owner   string
	changed chan struct{}
}

func newTable(owner string) *table { return &table{owner: owner, changed: make(chan struct{})} }

func (t *table) Partition(n int) layout.Partition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return layout.Partition{ID: n, Owner: t.owner}
}

func (t *table) PartitionsChanged() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

func (t *table) Members() []layout.Member {
	if t.alone {
		return []layout.Member{{ID: "a", RaftAddr: "a:1"}}
	}
	return []layout.Member{{ID: "b", RaftAddr: "b:1"}, {ID: "a", RaftAddr: "a:1"}}
}

func (t *table) move(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owner = owner
	close(t.changed)
	t.changed = make(chan struct{})
}

// host answers signals from a script, and counts them.
type host struct {
	agent.Instances
	name   string
	signal func(agent.Signal) error
	took   int
}

func (h *host) Signal(_ context.Context, _ agent.InstanceRef, s agent.Signal) (agent.Reply, error) {
	h.took++
	if h.signal != nil {
		if err := h.signal(s); err != nil {
			return agent.Reply{}, err
		}
	}
	return agent.Reply{Node: h.name}, nil
}

func (h *host) Attach(_ context.Context, ref agent.InstanceRef, a agent.Attach) (agent.Attached, error) {
	if h.took++; h.took == 1 {
		return agent.Attached{}, agent.Errorf(agent.CodeUnavailable, "once more, as %s", a.Attachment)
	}
	return agent.Attached{Attachment: a.Attachment, Instance: agent.Instance{InstanceRef: ref}}, nil
}

func (h *host) Stats(context.Context, string, string) (agent.ManagerStats, error) {
	if h.signal != nil {
		return agent.ManagerStats{}, h.signal(agent.Signal{})
	}
	return agent.ManagerStats{Nodes: []agent.NodeStats{{Node: h.name, Awake: 3}}}, nil
}

// hosts are the other nodes by address. Their processes answer pings.
type hosts map[string]agent.Instances

func (h hosts) Instances(addr string) agent.Instances { return h[addr] }
func (h hosts) Relay(addr string) agent.Instances     { return h["through "+addr] }
func (h hosts) Ping(context.Context, string) error    { return nil }

var ref = agent.InstanceRef{Manager: "m", Key: "k"}

func notOwner(owner string) *agent.Error {
	e := agent.Errorf(agent.CodeNotOwner, "not mine")
	e.Holder = owner
	return e
}

func TestACallGoesToTheOwner(t *testing.T) {
	a, b := &host{name: "a"}, &host{name: "b"}
	at := newTable("a")
	r := router.NewInstances("a", a, at, hosts{"b:1": b})
	for _, owner := range []string{"a", "b"} {
		at.move(owner)
		if reply, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"}); err != nil || reply.Node != owner {
			t.Errorf("owned by %s: answered by %q, %v", owner, reply.Node, err)
		}
	}
}

func TestACallFollowsAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newTable("a")
		b := &host{name: "b"}
		a := &host{name: "a", signal: func(agent.Signal) error { return notOwner("b") }}
		r := router.NewInstances("a", a, at, hosts{"b:1": b})
		go func() { time.Sleep(3 * time.Second); at.move("b") }()
		began := time.Now()
		reply, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"})
		if err != nil || reply.Node != "b" || b.took != 1 {
			t.Fatalf("answered by %q, %v; b took %d", reply.Node, err, b.took)
		}
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("answered after %v: the move was not noticed at once", waited)
		}
	})
}

// CL-8: "definitely not handled", "may have been handled" and "not found" are three answers.
func TestCL8_TheThreeFailuresStayApart(t *testing.T) {
	for name, c := range map[string]struct {
		fails error
		want  agent.Code
		took  int // 0 means more than once
	}{
		"unknown is not tried again":       {agent.Errorf(agent.CodeUnknown, "broke"), agent.CodeUnknown, 1},
		"not running":                      {agent.Errorf(agent.CodeNotFound, "no instance"), agent.CodeNotFound, 1},
		"a full mailbox is told at once":   {agent.Errorf(agent.CodeOverloaded, "full"), agent.CodeOverloaded, 1},
		"unavailable is tried for a while": {agent.Errorf(agent.CodeUnavailable, "down"), agent.CodeUnavailable, 0},
		"an endless move is unavailable":   {notOwner("b"), agent.CodeUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &host{name: "a", signal: func(agent.Signal) error { return c.fails }}
				r := router.NewInstances("a", a, newTable("a"), hosts{})
				_, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"})
				if agent.CodeOf(err) != c.want || c.took != 0 && a.took != c.took || c.took == 0 && a.took < 2 {
					t.Errorf("%v after %d attempts; want %s after %d", err, a.took, c.want, c.took)
				}
			})
		})
	}
}

// The refusal must reach the caller before its time is over.
func TestAWaitForAnOwnerEndsBeforeTheCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := router.NewInstances("a", &host{}, newTable(""), hosts{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := r.Signal(ctx, ref, agent.Signal{Type: "x"})
		if agent.CodeOf(err) != agent.CodeUnavailable || time.Since(began) != 950*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A node that stops gives up its partitions. Calls wait for the next owner, unless no other member can be that.
func TestACallWaitsForNoOwnerThatCannotBe(t *testing.T) {
	const whole = 8 * time.Second
	for name, c := range map[string]struct {
		alone, stops bool
		waits        bool
	}{
		"the only member stops": {true, true, false},
		"the only member runs":  {true, false, true},
		"one of several stops":  {false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopping := make(chan struct{})
				at := newTable("")
				at.alone = c.alone
				r := router.NewInstances("a", &host{}, at, hosts{})
				r.Stopping = stopping
				began := time.Now()
				if c.stops {
					go func() {
						time.Sleep(time.Second)
						close(stopping)
					}()
				}
				_, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"})
				took := time.Since(began)
				if agent.CodeOf(err) != agent.CodeUnavailable || c.waits != (took > whole/2) || !c.waits && took != time.Second {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

func TestAnAttachmentIsOneHoweverOftenItIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := router.NewInstances("a", &host{}, newTable("a"), hosts{})
		got, err := r.Attach(t.Context(), ref, agent.Attach{})
		if err != nil || got.Attachment == "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestStatsNameTheNodesThatDoNotAnswer(t *testing.T) {
	b := &host{name: "b", signal: func(agent.Signal) error { return errScripted }}
	r := router.NewInstances("a", &host{name: "a"}, newTable("a"), hosts{"b:1": b})
	stats, err := r.Stats(t.Context(), "s", "m")
	if err != nil || len(stats.Nodes) != 2 || stats.Nodes[0].Node != "a" || stats.Nodes[0].Awake != 3 || stats.Nodes[1].Node != "b" || stats.Nodes[1].Error == "" {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestAWrongReferenceIsRefusedBeforeItIsRouted(t *testing.T) {
	r := router.NewInstances("a", nil, newTable(""), hosts{})
	if _, err := r.Signal(t.Context(), agent.InstanceRef{Manager: "m"}, agent.Signal{}); agent.CodeOf(err) != agent.CodeInvalid {
		t.Error(err)
	}
	if n := placement.Partition("default", "m", "k"); n < 0 || n >= layout.Partitions {
		t.Error(n)
	}
}

// hung is an owner that takes a call and never answers.
type hung struct {
	agent.Instances
	took int
}

func (h *hung) Signal(ctx context.Context, _ agent.InstanceRef, _ agent.Signal) (agent.Reply, error) {
	h.took++
	<-ctx.Done()
	return agent.Reply{}, agent.Errorf(agent.CodeUnknown, "the call ended: %v", ctx.Err())
}

func (h *hung) Attach(ctx context.Context, _ agent.InstanceRef, _ agent.Attach) (agent.Attached, error) {
	h.took++
	<-ctx.Done()
	return agent.Attached{}, agent.Errorf(agent.CodeUnknown, "the call ended: %v", ctx.Err())
}

// An owner that hangs delays its callers by the rest of its lease, not by all of their time.
func TestACallLeavesAnOwnerWhoseLeaseLapses(t *testing.T) {
	const lapse = 4 * time.Second
	test := func(name string, call func(ctx context.Context, r *router.Instances) error, want agent.Code, tookB int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, a, b := newTable("a"), &hung{}, &host{name: "b"}
				r := router.NewInstances("c", nil, at, hosts{"a:1": a, "b:1": b})
				go func() { time.Sleep(lapse); at.move("b") }()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				err := call(ctx, r)
				if agent.CodeOf(err) != want || a.took != 1 || b.took != tookB {
					t.Errorf("%v; a took %d, b %d", err, a.took, b.took)
				}
				if waited := time.Since(began); waited < lapse || waited > lapse+time.Second {
					t.Errorf("it took %v", waited)
				}
			})
		})
	}
	requested := agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}}
	test("with a request id", func(ctx context.Context, r *router.Instances) error {
		reply, err := r.Signal(ctx, ref, requested)
		if err == nil && reply.Node != "b" {
			t.Errorf("answered by %s", reply.Node)
		}
		return err
	}, "", 1)
	test("without one", func(ctx context.Context, r *router.Instances) error {
		_, err := r.Signal(ctx, ref, agent.Signal{Type: "x"})
		return err
	}, agent.CodeUnknown, 0)
	test("that comes to the same", func(ctx context.Context, r *router.Instances) error {
		_, err := r.Attach(ctx, ref, agent.Attach{})
		return err
	}, "", 2)
}

// An owner that gives up a partition in order has answered by then, even if the answer arrives
// after the change of owner.
func TestAnAnswerOnItsWayIsTakenAfterAMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newTable("a")
		a := &host{name: "a", signal: func(agent.Signal) error {
			at.move("b")
			time.Sleep(100 * time.Millisecond)
			return nil
		}}
		r := router.NewInstances("c", nil, at, hosts{"a:1": a, "b:1": &host{name: "b"}})
		if reply, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"}); err != nil || reply.Node != "a" {
			t.Errorf("answered by %q, %v", reply.Node, err)
		}
	})
}

// A refusal after an attempt that may have been handled does not say that it was not.
func TestARefusalAfterAHungAttemptIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newTable("a")
		b := &host{name: "b", signal: func(agent.Signal) error { return agent.Errorf(agent.CodeOverloaded, "full") }}
		r := router.NewInstances("c", nil, at, hosts{"a:1": &hung{}, "b:1": b})
		go func() { time.Sleep(time.Second); at.move("b") }()
		_, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}})
		if agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("%v", err)
		}
	})
}

// cutOff are nodes of which none can reach a, except c through d. Nodes other than a answer pings.
type cutOff struct {
	hosts
	mu    sync.Mutex
	pings int // of a
}

func (c *cutOff) Ping(ctx context.Context, addr string) error {
	if addr != "a:1" {
		return nil
	}
	c.mu.Lock()
	c.pings++
	c.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

// members is a table with more members.
type members struct {
	*table
	more []layout.Member
}

func (m members) Members() []layout.Member { return append(m.table.Members(), m.more...) }

// An owner with a lease that only this node cannot reach delays its callers by a few seconds: they
// reach it through another node.
func TestACallGoesRoundACut(t *testing.T) {
	requested := agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}}
	refused := func(agent.Signal) error {
		err := agent.Errorf(agent.CodeUnavailable, "no connection to the peer a:1")
		err.Reason = agent.ReasonUnreachable
		return err
	}
	for name, c := range map[string]struct {
		owner, relay agent.Instances // of calls to a, directly and through the only other node
		signal       agent.Signal
		want         agent.Code
		within       time.Duration
	}{
		"a call that came to no answer":       {&hung{}, &host{name: "a"}, requested, "", 5 * time.Second},
		"without a request id":                {&hung{}, &host{name: "a"}, agent.Signal{Type: "x"}, agent.CodeUnknown, 5 * time.Second},
		"a call that was not sent":            {&host{signal: refused}, &host{name: "a"}, agent.Signal{Type: "x"}, "", time.Second},
		"a relay that cannot reach it either": {&hung{}, &host{signal: refused}, requested, agent.CodeUnknown, 15 * time.Second},
		"a relay that answers no":             {&hung{}, &host{signal: func(agent.Signal) error { return agent.Errorf(agent.CodeOverloaded, "full") }}, requested, agent.CodeUnknown, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peers := &cutOff{hosts: hosts{"a:1": c.owner, "b:1": &host{name: "b"}, "through b:1": c.relay}}
				r := router.NewInstances("c", nil, newTable("a"), peers)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				reply, err := r.Signal(ctx, ref, c.signal)
				if agent.CodeOf(err) != c.want || err == nil && reply.Node != "a" {
					t.Errorf("answered by %q, %v; want %q", reply.Node, err, c.want)
				}
				if waited := time.Since(began); waited > c.within {
					t.Errorf("it took %v", waited)
				}
			})
		})
	}
}

// A node that relays calls does not send them through other nodes: a call passes at most one.
func TestARelayedCallIsNotRelayedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := &host{name: "a"}
		r := router.NewInstances("c", nil, newTable("a"), &cutOff{hosts: hosts{"a:1": &hung{}, "through b:1": relay}}).Relayed()
		_, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}})
		if agent.CodeOf(err) != agent.CodeUnknown || relay.took != 0 {
			t.Errorf("%v; relayed %d times", err, relay.took)
		}
	})
}

// Hosts that join a cluster keep instances and relay nothing.
func TestHostsDoNotRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		through := &host{name: "a"}
		peers := &cutOff{hosts: hosts{"a:1": &hung{}, "through b:1": &hung{}, "through d:1": &hung{}, "through e:1": through}}
		at := members{newTable("a"), []layout.Member{{ID: "d", RaftAddr: "d:1", Host: true}, {ID: "e", RaftAddr: "e:1"}, {ID: "c"}}}
		r := router.NewInstances("c", nil, at, peers)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		_, _ = r.Signal(ctx, ref, agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}})
		if d, _ := peers.hosts["through d:1"].(*hung); d.took != 0 {
			t.Errorf("a host was to relay %d times", d.took)
		}
	})
}

// A call waits for a slow handler while its process answers pings, and all calls to a node share
// their pings.
func TestASlowHandlerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peers := &counted{hosts: hosts{"a:1": slow{}}}
		r := router.NewInstances("c", nil, newTable("a"), peers)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if _, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"}); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if n := peers.pings.Load(); n < 10 || n > 31 {
			t.Errorf("%d pings in 30 s", n)
		}
	})
}

// slow answers signals after half a minute.
type slow struct{ agent.Instances }

func (slow) Signal(context.Context, agent.InstanceRef, agent.Signal) (agent.Reply, error) {
	time.Sleep(30 * time.Second)
	return agent.Reply{Node: "a"}, nil
}

// counted are nodes that answer pings and count them.
type counted struct {
	hosts
	pings atomic.Int64
}

func (c *counted) Ping(context.Context, string) error {
	c.pings.Add(1)
	return nil
}

// movesAfterLook is a table whose partition moves to b right after the first look.
type movesAfterLook struct {
	*table
	looked sync.Once
}

func (m *movesAfterLook) Partition(n int) layout.Partition {
	p := m.table.Partition(n)
	m.looked.Do(func() { m.move("b") })
	return p
}

// An attempt ends after a move that comes between the look at the owner and the
// start of the attempt.
func TestACallLeavesAnOwnerThatWasReplacedBeforeTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &hung{}, &host{name: "b"}
		r := router.NewInstances("c", nil, &movesAfterLook{table: newTable("a")}, hosts{"a:1": a, "b:1": b})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		reply, err := r.Signal(ctx, ref, agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}})
		if err != nil || reply.Node != "b" || a.took != 1 {
			t.Errorf("answered by %q, %v; a took %d", reply.Node, err, a.took)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("it took %v", waited)
		}
	})
}
