package router_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/router"
)

// scriptedNode sends scripted events, in streams that the test can break.
type scriptedNode struct {
	agent.Instances
	name string

	mu      sync.Mutex
	down    bool
	full    bool                                    // it accepts no more watches
	hung    bool                                    // it accepts a watch, and sends nothing
	streams map[chan agent.InstanceEvent]chan error // :: a stream → its end
	count   int
}

func newScriptedNode(name string) *scriptedNode {
	return &scriptedNode{name: name, streams: map[chan agent.InstanceEvent]chan error{}}
}

func (h *scriptedNode) Watch(ctx context.Context, _ agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		h.mu.Lock()
		stream, end, down, hung, full := make(chan agent.InstanceEvent, 16), make(chan error, 1), h.down, h.hung, h.full
		h.streams[stream] = end
		h.count++
		h.mu.Unlock()
		defer func() {
			h.mu.Lock()
			delete(h.streams, stream)
			h.mu.Unlock()
		}()
		if down {
			yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeUnavailable, "down"))
			return
		}
		if full {
			yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeOverloaded, "no more"))
			return
		}
		if hung {
			<-ctx.Done()
			return
		}
		if !yield(agent.InstanceEvent{Missed: true, Node: h.name, Reason: "the watch begins"}, nil) {
			return
		}
		for {
			select {
			case e := <-stream:
				if !yield(e, nil) {
					return
				}
			case err := <-end:
				yield(agent.InstanceEvent{}, err)
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// tell sends an event of instance k to all watchers.
func (h *scriptedNode) send(status agent.InstanceStatus, epoch uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for stream := range h.streams {
		stream <- agent.InstanceEvent{InstanceRef: agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: "k"}, Node: h.name, Epoch: epoch, Status: status}
	}
}

// breaks ends all streams, and refuses new ones while down.
func (h *scriptedNode) breaks(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
	for _, end := range h.streams {
		end <- agent.Errorf(agent.CodeUnavailable, "broke")
	}
}

// fills refuses new streams as overloaded.
func (h *scriptedNode) fills(full bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.full = full
}

// asked returns how many streams were requested.
func (h *scriptedNode) asked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// changingMembers is a table whose members change.
type changingMembers struct {
	*table
	all []string
}

func (c *changingMembers) Members() (members []layout.Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.all {
		members = append(members, layout.Member{ID: id, RaftAddr: id + ":1"})
	}
	return members
}

func (c *changingMembers) are(all ...string) {
	c.mu.Lock()
	c.all = all
	c.mu.Unlock()
	c.move("a")
}

// follow watches through node a. heard checks the events since its last call, and end ends the
// watch.
func follow(t *testing.T, r *router.Instances) (heard func(want ...string), end func()) {
	t.Helper()
	return followOf(t, r, agent.InstanceWatch{Manager: "m"})
}

func followOf(t *testing.T, r *router.Instances, w agent.InstanceWatch) (heard func(want ...string), end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var got []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range r.Watch(ctx, w) {
			mu.Lock()
			switch {
			case err != nil:
				got = append(got, string(agent.CodeOf(err)))
			case e.Missed:
				got = append(got, "missed "+e.Node)
			default:
				got = append(got, fmt.Sprintf("%s %s %d", e.Node, e.Status, e.Epoch))
			}
			mu.Unlock()
		}
	}()
	synctest.Wait()
	return func(want ...string) {
		t.Helper()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(got) // events of different nodes have no order
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("heard:\n%s", diff)
		}
		got = nil
	}, func() { cancel(); <-done }
}

func TestAWatchCoversEveryMemberAndReportsGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newScriptedNode("a"), newScriptedNode("b"), newScriptedNode("c")
		at := &changingMembers{table: newTable("a"), all: []string{"a", "b"}}
		r := router.NewInstances("a", a, at, hosts{"b:1": b, "c:1": c})
		heard, end := follow(t, r)
		heard("missed ") // one event for all of them
		a.send(agent.InstanceAwake, 1)
		heard("a awake 1")
		b.send(agent.InstanceAwake, 2)
		heard("b awake 2")
		a.send(agent.InstanceDormant, 1) // too late: for another key it would be reported
		heard("missed a")
		a.send(agent.InstanceDormant, 1)
		heard() // it has been reported
		b.breaks(true)
		heard("missed b")
		time.Sleep(time.Minute)
		heard() // it has been reported
		b.breaks(false)
		time.Sleep(time.Minute)
		heard("missed b")
		b.send(agent.InstanceDormant, 2)
		heard("b dormant 2")
		at.are("a", "b", "c")
		heard("missed c")
		c.send(agent.InstanceAwake, 3)
		heard("c awake 3")
		at.are("a", "b")
		heard("missed c")
		end()
		for _, h := range []*scriptedNode{a, b, c} {
			if len(h.streams) != 0 {
				t.Errorf("%s is watched still", h.name)
			}
		}
	})
}

func TestAWatchBeginsWithoutAMemberThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScriptedNode("a"), newScriptedNode("b")
		b.hung = true
		at := &changingMembers{table: newTable("a"), all: []string{"a", "b"}}
		heard, end := follow(t, router.NewInstances("a", a, at, hosts{"b:1": b}))
		a.send(agent.InstanceWaking, 1)
		heard() // the first event must say what was missed
		time.Sleep(3 * time.Second)
		heard("a waking 1", "missed ")
		end()
	})
}

func TestAWatchOfOneKeyMissesNothingOfItsFormerOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScriptedNode("a"), newScriptedNode("b")
		at := &changingMembers{table: newTable("a"), all: []string{"a", "b"}}
		heard, end := followOf(t, router.NewInstances("a", a, at, hosts{"b:1": b}), agent.InstanceWatch{Manager: "m", Key: "k"})
		heard("missed ")
		b.send(agent.InstanceAwake, 2)
		heard("b awake 2")
		a.send(agent.InstanceDormant, 1) // of the same key, and older
		heard()
		end()
	})
}

// A watch that a member has no room for is refused, and not served from the other members only. A
// watch that has begun continues without the member, and does not retry too often.
func TestAWatchThatAMemberHasNoRoomForIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScriptedNode("a"), newScriptedNode("b")
		at := &changingMembers{table: newTable("a"), all: []string{"a", "b"}}
		r := router.NewInstances("a", a, at, hosts{"b:1": b})
		b.fills(true)
		refused, end := follow(t, r)
		refused("overloaded")
		end()
		b.fills(false)
		heard, end := follow(t, r)
		heard("missed ")
		b.fills(true)
		b.breaks(false)
		heard("missed b")
		asked := b.asked()
		time.Sleep(time.Minute)
		heard()
		if often := b.asked() - asked; often > 40 {
			t.Errorf("it was asked %d times in a minute", often)
		}
		end()
	})
}

func TestAWatchOfNothingIsRefused(t *testing.T) {
	r := router.NewInstances("a", newScriptedNode("a"), newTable("a"), hosts{})
	for _, err := range r.Watch(t.Context(), agent.InstanceWatch{}) {
		if agent.CodeOf(err) != agent.CodeInvalid {
			t.Error(err)
		}
	}
}
