package router_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dormouse/agent"
	"dormouse/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene simulates this node's store and group, and the other nodes. Answers are scripted; the last
// one is repeated.
type scene struct {
	mu      sync.Mutex
	leads   bool
	leader  string                                    // address
	turned  chan struct{}                             // closed when leader changes; made by LeaderChanged
	told    []string                                  // the leaders that the peers were told
	submits []error                                   // answers to commits, on any node
	asked   int                                       // number of commits that were sent
	hold    []func(agent.Result, error)               // commits without a scripted answer
	barrier func(ctx context.Context) (uint64, error) // of the current leader
	reads   []uint64                                  // the indexes of the served reads
	unknown int                                       // how often a commit is still one that not all nodes support
}

func (s *scene) IsLeader() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leads
}

func (s *scene) Leader() (id, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leader, s.leader
}

func (s *scene) LeaderChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turned == nil {
		s.turned = make(chan struct{})
	}
	return s.turned
}

// elect makes another node the leader.
func (s *scene) elect(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = addr
	if s.turned != nil {
		close(s.turned)
		s.turned = nil
	}
}

// Submit implements the local store's part.
func (s *scene) Submit(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
	s.mu.Lock()
	n := s.asked
	s.asked++
	if len(s.submits) == 0 {
		s.hold = append(s.hold, done)
		s.mu.Unlock()
		return
	}
	err := s.submits[min(n, len(s.submits)-1)]
	s.mu.Unlock()
	done(agent.Result{Index: 7}, err)
}

func (s *scene) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, s, c)
}

func (s *scene) Barrier(ctx context.Context) (uint64, error) { return s.barrier(ctx) }

func (s *scene) Read(context.Context, agent.Reads) (agent.Answers, error) { panic("not for a router") }

func (s *scene) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] {
	panic("not for a router")
}

func (s *scene) Applied() uint64 { return 0 }

func (s *scene) Supports(*agent.Commit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unknown--; s.unknown >= 0 {
		return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support that yet")
	}
	return nil
}

func (s *scene) ReadAt(_ context.Context, index uint64, _ agent.Reads) (agent.Answers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, index)
	return agent.Answers{Index: index}, nil
}

func (s *scene) WatchFrom(context.Context, func(context.Context) (uint64, error), agent.Watch) iter.Seq2[agent.Event, error] {
	panic("not looked at here")
}

// others are the other nodes of a scene.
type others struct{ *scene }

func (o others) Submit(ctx context.Context, _ string, c agent.Commit, done func(agent.Result, error)) {
	o.scene.Submit(ctx, c, done)
}

func (o others) Barrier(ctx context.Context, _ string, _ uint64) (uint64, error) {
	return o.barrier(ctx)
}

func (o others) Leads(addr string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, addr)
}

func newRouter(t *testing.T, s *scene) *router.Router {
	t.Helper()
	r := router.New(s, s, others{s})
	t.Cleanup(r.Close)
	return r
}

func put() agent.Commit { return agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k"}}} }

func read() agent.Reads { return agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "k"}}} }

func code(c agent.Code) error { return agent.Errorf(c, "scripted") }

// Commits that were definitely not applied are repeated, here and on other nodes; commits that may
// have been applied, or were decided, are not.
func TestOnlyCommitsThatWereNotAppliedAreRetried(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []error
		want    agent.Code
		tries   int // 0: as many as fit
	}{
		{"applied", []error{nil}, "", 1},
		{"no leader, then applied", []error{code(agent.CodeUnavailable), code(agent.CodeUnavailable), nil}, "", 3},
		{"no leader for ever", []error{code(agent.CodeUnavailable)}, agent.CodeUnavailable, 0},
		{"unknown", []error{code(agent.CodeUnknown), nil}, agent.CodeUnknown, 1},
		{"no leader, then unknown", []error{code(agent.CodeUnavailable), code(agent.CodeUnknown), nil}, agent.CodeUnknown, 2},
		{"overloaded", []error{code(agent.CodeOverloaded), nil}, agent.CodeOverloaded, 1},
		{"read only", []error{code(agent.CodeReadOnly), nil}, agent.CodeReadOnly, 1},
		{"conflict", []error{code(agent.CodeConflict), nil}, agent.CodeConflict, 1},
	} {
		for _, leads := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{leads: leads, leader: "other", submits: c.answers}
				began := time.Now()
				_, err := newRouter(t, s).Commit(t.Context(), put())
				if got := agent.CodeOf(err); got != c.want {
					t.Errorf("%s (leads: %t): %v, want %q", c.name, leads, err, c.want)
				}
				if c.tries != 0 && s.asked != c.tries || c.tries == 0 && s.asked < 5 {
					t.Errorf("%s (leads: %t): %d tries, want %d", c.name, leads, s.asked, c.tries)
				}
				if took := time.Since(began); took > 9*time.Second {
					t.Errorf("%s (leads: %t): it took %v", c.name, leads, took)
				}
			})
		}
	}
}

// A leader of an earlier version would ignore a condition that it does not know: a commit with one is not
// forwarded before all nodes support it.
func TestACommitThatNotAllNodesSupportIsNotForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{leader: "older", submits: []error{nil}, unknown: 1 << 30}
		r := newRouter(t, s)
		if _, err := r.Commit(t.Context(), put()); agent.CodeOf(err) != agent.CodeUnavailable || s.asked != 0 {
			t.Errorf("%v, and was sent %d times", err, s.asked)
		}
		s.unknown = 2
		if _, err := r.Commit(t.Context(), put()); err != nil || s.asked != 1 {
			t.Errorf("%v, and was sent %d times", err, s.asked)
		}
	})
}

func TestACommitWithoutALeaderIsUnavailableAndNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{}
		r := newRouter(t, s)
		if _, err := r.Commit(t.Context(), put()); agent.CodeOf(err) != agent.CodeUnavailable || s.asked != 0 {
			t.Errorf("%v, and was sent %d times", err, s.asked)
		}
		settled := make(chan error, 1)
		r.Submit(t.Context(), put(), func(_ agent.Result, err error) { settled <- err })
		r.Close()
		if err := <-settled; agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("a commit that waited for a leader when the node stopped: %v", err)
		}
	})
}

func TestACommitThatWaitsForALeaderGoesToTheOneThatIsElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{submits: []error{nil}}
		r := newRouter(t, s)
		time.AfterFunc(3*time.Second, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.leads = true
		})
		if result, err := r.Commit(t.Context(), put()); err != nil || result.Index != 7 {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestAnInvalidCommitIsNotForwarded(t *testing.T) {
	s := &scene{leads: true, submits: []error{nil}}
	if _, err := newRouter(t, s).Commit(t.Context(), agent.Commit{}); agent.CodeOf(err) != agent.CodeInvalid || s.asked != 0 {
		t.Errorf("%v, and was sent %d times", err, s.asked)
	}
}

// A caller that gives up does not decide its commit: the answer may still arrive.
func TestACallerThatGivesUpOnASentCommitIsToldUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{leader: "other"}
		r := newRouter(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Commit(ctx, put()); agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("%v, want unknown", err)
		}
		for _, done := range s.hold {
			done(agent.Result{}, code(agent.CodeUnavailable)) // late, and not repeated
		}
		time.Sleep(time.Minute)
		if s.asked != 1 {
			t.Errorf("it was sent %d times", s.asked)
		}
	})
}

// A read that arrives during a request waits for the next one: the answer might be older than the
// read.
func TestAReadNeverJoinsARoundThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := make(chan uint64)
		sent := 0
		s := &scene{leader: "other"}
		s.barrier = func(context.Context) (uint64, error) {
			sent++
			return <-rounds, nil
		}
		r := newRouter(t, s)
		served := make(chan uint64, 16)
		ask := func() {
			go func() {
				a, err := r.Read(t.Context(), read())
				if err != nil {
					t.Error(err)
				}
				served <- a.Index
			}()
			synctest.Wait()
		}
		ask() // sends round 1
		for range 5 {
			ask() // wait for round 2
		}
		if sent != 1 {
			t.Fatalf("%d questions on their way, want 1", sent)
		}
		rounds <- 10
		if got := <-served; got != 10 {
			t.Errorf("the first read is served at %d", got)
		}
		synctest.Wait()
		if len(served) != 0 {
			t.Error("a read took the answer to a question that was older than it")
		}
		rounds <- 20
		for range 5 {
			if got := <-served; got != 20 {
				t.Errorf("a read of the second round is served at %d", got)
			}
		}
		if sent != 2 {
			t.Errorf("%d questions for two rounds", sent)
		}
	})
}

func TestAReadThatCannotBeServedIsUnavailableNeverUnknown(t *testing.T) {
	for name, answer := range map[string]error{"unknown": code(agent.CodeUnknown), "unavailable": code(agent.CodeUnavailable)} {
		for _, leads := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{leads: leads, leader: "other"}
				s.barrier = func(context.Context) (uint64, error) { return 0, answer }
				if _, err := newRouter(t, s).Read(t.Context(), read()); agent.CodeOf(err) != agent.CodeUnavailable {
					t.Errorf("%s (leads: %t): %v", name, leads, err)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &scene{leader: "other"}
		s.barrier = func(ctx context.Context) (uint64, error) {
			<-ctx.Done()
			return 0, code(agent.CodeUnavailable)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := newRouter(t, s).Read(ctx, read()); agent.CodeOf(err) != agent.CodeUnavailable || ctx.Err() == nil {
			t.Errorf("%v", err)
		}
	})
}

func TestAStaleReadAsksNoOtherNode(t *testing.T) {
	s := &scene{}
	stale := read()
	stale.Stale = true
	if _, err := newRouter(t, s).Read(t.Context(), stale); err != nil || len(s.reads) != 1 || s.reads[0] != 0 {
		t.Errorf("%v, served at %v", err, s.reads)
	}
}

// Commits that wait for a leader are bounded; one more is refused at once.
func TestCommitsThatWaitForALeaderAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{}
		r := newRouter(t, s)
		var mu sync.Mutex
		codes := map[agent.Code]int{}
		const over = 100
		for range 16_384 + over {
			r.Submit(t.Context(), put(), func(_ agent.Result, err error) {
				mu.Lock()
				defer mu.Unlock()
				codes[agent.CodeOf(err)]++
			})
		}
		mu.Lock()
		if codes[agent.CodeOverloaded] != over || len(codes) != 1 {
			t.Errorf("at once: %v", codes)
		}
		mu.Unlock()
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if codes[agent.CodeUnavailable]+codes[agent.CodeOverloaded] != 16_384+over {
			t.Errorf("in the end: %v", codes)
		}
	})
}
