package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dormouse/agent"
)

// gazette is what a watch has told of each instance last.
type gazette struct {
	mu     sync.Mutex
	newest map[string]agent.InstanceEvent // :: key
	missed map[string]int                 // :: node → how often something of it was missed; "" for all
	wrong  []string
}

// read follows all instances through a node until the test ends.
func (s *street) read(through string) *gazette {
	s.t.Helper()
	g := &gazette{newest: map[string]agent.InstanceEvent{}, missed: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	watch := s.awake[through].Instances().Watch(ctx, agent.InstanceWatch{Manager: "docs"})
	go func() {
		defer close(done)
		for e, err := range watch {
			g.take(e, err)
		}
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	s.await("the watch to begin", func() bool { return g.misses("") == 1 })
	return g
}

func (g *gazette) take(e agent.InstanceEvent, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch before := g.newest[e.Key]; {
	case err != nil:
		g.wrong = append(g.wrong, err.Error())
	case e.Missed && strings.HasPrefix(e.Reason, "changes came after"): // in their own time
	case e.Missed:
		g.missed[e.Node]++
	case e.Epoch < before.Epoch || e.Epoch == before.Epoch && before.Node != "" && e.Node != before.Node:
		g.wrong = append(g.wrong, fmt.Sprintf("%+v after %+v", e, before))
	default:
		g.newest[e.Key] = e
	}
}

func (g *gazette) misses(node string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.missed[node]
}

func (g *gazette) of(key string) agent.InstanceEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest[key]
}

// A watch through one node hears of the instances of all; where one is cut off
// it says so, and says again when it hears that one.
func TestAWatchHearsOfAllNodesSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openStreet(t, 3, 24)
		g := s.read("n1")
		homes := map[string]bool{}
		awake := func(through string) {
			t.Helper()
			for _, key := range s.keys {
				reply := s.signal(through, key)
				homes[reply.Node] = true
				s.await("the watch to tell that "+key+" is awake", func() bool {
					e := g.of(key)
					return e.Status == agent.InstanceAwake && e.Node == reply.Node && e.Epoch == reply.Epoch
				})
			}
		}
		awake("n2")
		if len(homes) != 3 {
			t.Errorf("the instances live on %v", homes)
		}
		s.isolate("n3")
		s.await("the watch to miss n3", func() bool { return g.misses("n3") == 1 })
		awake("n1")
		s.heal()
		s.await("the watch to hear n3 again", func() bool { return g.misses("n3") == 2 })
		s.even("n1", "n2", "n3")
		awake("n3")
		for _, key := range s.keys {
			if err := s.awake["n2"].Instances().Stop(t.Context(), agent.InstanceRef{Manager: "docs", Key: key}); err != nil {
				t.Fatal(err)
			}
			s.await("the watch to tell that "+key+" sleeps", func() bool {
				e := g.of(key)
				return e.Status == agent.InstanceDormant && e.Reason == agent.ReasonManual
			})
		}
		if len(g.wrong) > 0 {
			t.Errorf("%d events were wrong, such as %s", len(g.wrong), g.wrong[0])
		}
		if g.misses("") != 1 || g.misses("n1") != 0 || g.misses("n2") != 0 {
			t.Errorf("missed: %v", g.missed)
		}
	})
}
