package store_test

import (
	"context"
	"iter"
	"sync"
	"testing"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/storage"
	"dormouse/store"
)

// group is a Raft group of one machine: it applies each commit as one entry.
type group struct {
	machine  *fsm.Machine
	barrier  func() (uint64, error) // nil: the newest entry
	replayed error

	mu    sync.Mutex
	index uint64   // of the newest entry; guarded by mu
	sent  [][]byte // the encoded commits; guarded by mu
}

const (
	tick = 5000      // of each entry
	wall = 1_000_000 // of each entry
)

func (g *group) Submit(_ context.Context, _ string, encoded []byte, done func(agent.Decided, error)) {
	done(g.apply(encoded), nil)
}

// apply applies one entry.
func (g *group) apply(encoded ...[]byte) agent.Decided {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.index++
	g.sent = append(g.sent, encoded...)
	entry := &raft.Log{Type: raft.LogCommand, Index: g.index, Term: 1, Data: g.machine.Pack(g.index, 1, tick, wall, encoded)}
	decided, ok := g.machine.Apply(entry).([]agent.Decided)
	if !ok || len(decided) == 0 {
		return agent.Decided{}
	}
	return decided[0]
}

func (g *group) Barrier(context.Context) (uint64, error) {
	if g.barrier != nil {
		return g.barrier()
	}
	return g.machine.Applied(), nil
}

func (g *group) Replayed() error { return g.replayed }

func (*group) Tick() uint64 { return tick }

// open returns the store of an empty machine of the newest feature level, and its group.
func open(t *testing.T, o store.Options) (*store.Store, *group) {
	t.Helper()
	s, g := openAt(t, o)
	raise(g, fsm.FeatureLevelMax)
	return s, g
}

// raise sets the feature level of a group's machine.
func raise(g *group, level uint32) { g.apply(g.machine.EncodeFeatureLevel(level)) }

// openAt is open at the first feature level.
func openAt(t *testing.T, o store.Options) (*store.Store, *group) {
	t.Helper()
	machine, err := fsm.Open(fsm.Options{Dir: "state", FS: storage.MemFS(), Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	})
	g := &group{machine: machine}
	o.Machine, o.Group = machine, g
	return store.New(o), g
}

// commit commits ops that must be applied.
func commit(t *testing.T, s *store.Store, ops ...agent.Op) agent.Result {
	t.Helper()
	result, err := s.Commit(t.Context(), agent.Commit{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// read answers one read.
func read(t *testing.T, s *store.Store, r agent.Read) agent.Answer {
	t.Helper()
	answers, err := s.Read(t.Context(), agent.Reads{Reads: []agent.Read{r}})
	if err != nil {
		t.Fatal(err)
	}
	return answers.Answers[0]
}

// watching yields the events of a watch one at a time.
type watching struct {
	next func() (agent.Event, error, bool)
}

// watch starts a watch, which ends with the test.
func watch(ctx context.Context, t *testing.T, s *store.Store, w agent.Watch) watching {
	t.Helper()
	next, stop := iter.Pull2(s.Watch(ctx, w))
	t.Cleanup(stop)
	return watching{next}
}

// event returns the next event, which must not be an error.
func (w watching) event(t *testing.T) agent.Event {
	t.Helper()
	event, err, ok := w.next()
	if err != nil || !ok {
		t.Fatalf("the watch ended: %v", err)
	}
	return event
}

// refused fails the test unless the watch ends with an error of that code.
func (w watching) refused(t *testing.T, code agent.Code) {
	t.Helper()
	if event, err, _ := w.next(); agent.CodeOf(err) != code {
		t.Fatalf("%+v, %v, want %s", event, err, code)
	}
}

// ended fails the test unless the watch has ended without an error.
func (w watching) ended(t *testing.T) {
	t.Helper()
	if event, err, ok := w.next(); ok {
		t.Fatalf("the watch goes on with %+v, %v", event, err)
	}
}
