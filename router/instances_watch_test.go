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
	"dormouse/router"
)

// teller tells what it is told to tell, in streams that can be broken.
type teller struct {
	agent.Instances
	name string

	mu    sync.Mutex
	down  bool
	hung  bool                                    // it takes a watch, and says nothing
	ears  map[chan agent.InstanceEvent]chan error // :: a stream → its end
	count int
}

func newTeller(name string) *teller {
	return &teller{name: name, ears: map[chan agent.InstanceEvent]chan error{}}
}

func (h *teller) Watch(ctx context.Context, _ agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		h.mu.Lock()
		ear, end, down, hung := make(chan agent.InstanceEvent, 16), make(chan error, 1), h.down, h.hung
		h.ears[ear] = end
		h.count++
		h.mu.Unlock()
		defer func() {
			h.mu.Lock()
			delete(h.ears, ear)
			h.mu.Unlock()
		}()
		if down {
			yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeUnavailable, "down"))
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
			case e := <-ear:
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

// tell tells all who watch of a change of instance k.
func (h *teller) tell(status agent.InstanceStatus, epoch uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ear := range h.ears {
		ear <- agent.InstanceEvent{InstanceRef: agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: "k"}, Node: h.name, Epoch: epoch, Status: status}
	}
}

// breaks ends all streams, and lets no new ones be while down.
func (h *teller) breaks(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
	for _, end := range h.ears {
		end <- agent.Errorf(agent.CodeUnavailable, "broke")
	}
}

// crowd is a table whose members change.
type crowd struct {
	*table
	all []string
}

func (c *crowd) Members() (members []agent.Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.all {
		members = append(members, agent.Member{ID: id, RaftAddr: id + ":1"})
	}
	return members
}

func (c *crowd) are(all ...string) {
	c.mu.Lock()
	c.all = all
	c.mu.Unlock()
	c.move("a")
}

// follow watches through node a, and returns what is heard since it was called
// last, and what ends the watch.
func follow(t *testing.T, r *router.Instances) (heard func(want ...string), end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var got []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range r.Watch(ctx, agent.InstanceWatch{Manager: "m"}) {
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
		slices.Sort(got) // nodes are not ordered
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("heard:\n%s", diff)
		}
		got = nil
	}, func() { cancel(); <-done }
}

func TestAWatchHearsEveryMemberAndIsToldWhereItDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newTeller("a"), newTeller("b"), newTeller("c")
		at := &crowd{table: newTable("a"), all: []string{"a", "b"}}
		r := router.NewInstances("a", a, at, hosts{"b:1": b, "c:1": c})
		heard, end := follow(t, r)
		heard("missed ") // once for all of them
		a.tell(agent.InstanceAwake, 1)
		heard("a awake 1")
		b.tell(agent.InstanceAwake, 2)
		heard("b awake 2")
		a.tell(agent.InstanceDormant, 1) // what comes late is of no use
		heard()
		b.breaks(true)
		heard("missed b")
		time.Sleep(time.Minute)
		heard() // it has been said
		b.breaks(false)
		time.Sleep(time.Minute)
		heard("missed b")
		b.tell(agent.InstanceDormant, 2)
		heard("b dormant 2")
		at.are("a", "b", "c")
		heard("missed c")
		c.tell(agent.InstanceAwake, 3)
		heard("c awake 3")
		at.are("a", "b")
		heard("missed c")
		end()
		for _, h := range []*teller{a, b, c} {
			if len(h.ears) != 0 {
				t.Errorf("%s is watched still", h.name)
			}
		}
	})
}

func TestAWatchBeginsWithoutAMemberThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newTeller("a"), newTeller("b")
		b.hung = true
		at := &crowd{table: newTable("a"), all: []string{"a", "b"}}
		heard, end := follow(t, router.NewInstances("a", a, at, hosts{"b:1": b}))
		a.tell(agent.InstanceWaking, 1)
		heard() // first it is to be known what was missed
		time.Sleep(3 * time.Second)
		heard("a waking 1", "missed ")
		end()
	})
}

func TestAWatchOfNothingIsRefused(t *testing.T) {
	r := router.NewInstances("a", newTeller("a"), newTable("a"), hosts{})
	for _, err := range r.Watch(t.Context(), agent.InstanceWatch{}) {
		if agent.CodeOf(err) != agent.CodeInvalid {
			t.Error(err)
		}
	}
}
