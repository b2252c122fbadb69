package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
)

// journal is a thread that all nodes of a test serve.
type journal struct {
	mu          sync.Mutex
	incarnation uint64
	rev         uint64
	grew        chan struct{}
}

func newJournal() *journal { return &journal{incarnation: 1, grew: make(chan struct{})} }

func (j *journal) append(n uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rev += n
	close(j.grew)
	j.grew = make(chan struct{})
}

func (j *journal) fake() *fake {
	return &fake{
		read: func(_ context.Context, r agent.Reads) (agent.Answers, error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			answer := agent.Answer{Found: &agent.Thread{ID: "t", Rev: j.rev, Incarnation: j.incarnation}}
			if j.incarnation == 0 {
				answer = agent.Answer{Err: agent.Errorf(agent.CodeNotFound, "no thread")}
			}
			return agent.Answers{Answers: slices.Repeat([]agent.Answer{answer}, len(r.Reads))}, nil // a node reads for several watches at once
		},
		watch: j.watch,
	}
}

func (j *journal) watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for seq := w.From; ; {
			j.mu.Lock()
			rev, grew := j.rev, j.grew
			j.mu.Unlock()
			for ; seq < rev; seq++ {
				if !yield(agent.Event{Entry: agent.Entry{ID: fmt.Sprint("e", seq), Seq: seq}}, nil) {
					return
				}
			}
			select {
			case <-grew:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Nodes fail during a watch, repeatedly: the watcher sees every entry once and in
// order.
func TestAWatchSurvivesItsNodesWithoutGapOrDuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWires(t), newJournal()
		serve := func(addr string) func() { f := j.fake(); return w.serve(addr, f, f) }
		stop := map[string]func(){"a": serve("a"), "b": serve("b")}
		c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
		ctx, cancel := context.WithCancel(t.Context())
		var watcher sync.WaitGroup
		var got []uint64
		watcher.Go(func() {
			for e, err := range c.Watch(ctx, agent.Watch{Thread: "t", From: 2}) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, e.Entry.Seq)
			}
		})
		for i := range 10 {
			j.append(7)
			time.Sleep(100 * time.Millisecond)
			addr := []string{"a", "b"}[i%2]
			stop[addr]()
			j.append(3)
			time.Sleep(200 * time.Millisecond)
			stop[addr] = serve(addr)
		}
		time.Sleep(time.Minute)
		cancel()
		watcher.Wait()
		if len(got) != 98 {
			t.Errorf("%d entries: %v", len(got), got)
		}
		for i, seq := range got {
			if seq != uint64(i+2) {
				t.Fatalf("entry %d is seq %d", i, seq)
			}
		}
	})
}

func TestAThreadCreatedAgainEndsTheWatchOfTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWires(t), newJournal()
		j.append(3)
		f := j.fake()
		f.watch = func(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
			if w.Incarnation != 1 { // the node compares it: the thread may have been created again since it was read
				t.Errorf("the watch names incarnation %d", w.Incarnation)
			}
			return j.watch(ctx, w)
		}
		stop := w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		time.AfterFunc(time.Second, func() {
			stop()
			j.mu.Lock()
			j.incarnation, j.rev = 2, 9
			j.mu.Unlock()
			f := j.fake()
			w.serve("a", f, f)
		})
		var got []agent.Event
		for e, err := range c.Watch(t.Context(), agent.Watch{Thread: "t"}) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, e)
		}
		if len(got) != 4 || got[3].Kind != agent.EventDeleted {
			t.Errorf("events: %+v", got)
		}
	})
}

// A thread that was deleted and imported has its incarnation, and may have fewer entries than a watch has
// yielded. A watch that begins past the end of its thread waits for the end.
func TestAThreadWithFewerEntriesEndsTheWatchOfTheLongerOne(t *testing.T) {
	for name, c := range map[string]struct {
		from   uint64
		seqs   []uint64
		ending agent.EventKind
	}{"yielded more": {0, []uint64{0, 1, 2}, agent.EventDeleted}, "yielded none": {4, []uint64{4}, agent.EventEntry}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, j := newWires(t), newJournal()
				j.append(3)
				f := j.fake()
				stop := w.serve("a", f, f)
				dialled := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				time.AfterFunc(time.Second, func() {
					stop()
					j.mu.Lock()
					j.rev = 2
					j.mu.Unlock()
					w.serve("a", f, f)
				})
				time.AfterFunc(time.Minute, func() { j.append(3) })
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var seqs []uint64
				for e, err := range dialled.Watch(ctx, agent.Watch{Thread: "t", From: c.from}) {
					switch {
					case err != nil:
						t.Fatal(err)
					case e.Kind == agent.EventEntry:
						seqs = append(seqs, e.Entry.Seq)
					}
					if e.Kind == c.ending && slices.Equal(seqs, c.seqs) {
						return
					}
				}
				t.Errorf("it yielded %v", seqs)
			})
		})
	}
}

// A thread does not exist when the watch reads its incarnation. It is then created,
// deleted and created again while the node is away. No watch may begin in one
// incarnation and continue in the other. Found by the fault harness (workload watch,
// nemesis disk).
func TestAWatchThatFoundNoThreadFollowsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWires(t), newJournal()
		j.incarnation = 0
		f := j.fake()
		asked := f.read
		f.read = func(ctx context.Context, r agent.Reads) (agent.Answers, error) {
			defer func() { // the first incarnation begins right after the watch has read it
				j.mu.Lock()
				j.incarnation, j.rev = 1, 1
				j.mu.Unlock()
			}()
			return asked(ctx, r)
		}
		stop := w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		time.AfterFunc(time.Second, func() {
			stop()
			j.mu.Lock()
			j.incarnation, j.rev = 2, 9
			j.mu.Unlock()
			f := j.fake()
			w.serve("a", f, f)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got []agent.Event
		var last error
		for e, err := range c.Watch(ctx, agent.Watch{Thread: "t"}) {
			got, last = append(got, e), err
		}
		if len(got) != 1 || agent.CodeOf(last) != agent.CodeNotFound {
			t.Errorf("events: %+v, the last with %v", got, last)
		}
	})
}

func TestWhatEndsAWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		event agent.Event
		err   error
		want  agent.Code
	}{
		"compacted": {event: agent.Event{Kind: agent.EventCompacted, Floor: 9}},
		"deleted":   {event: agent.Event{Kind: agent.EventDeleted}},
		"refused":   {err: code(agent.CodeInvalid), want: agent.CodeInvalid},
		"a gap":     {event: agent.Event{Entry: agent.Entry{Seq: 5}}, want: agent.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, f := newWires(t), newJournal().fake()
				f.watch = func(context.Context, agent.Watch) iter.Seq2[agent.Event, error] {
					return func(yield func(agent.Event, error) bool) { yield(tc.event, tc.err) }
				}
				w.serve("a", f, f)
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				n := 0
				for e, err := range c.Watch(t.Context(), agent.Watch{Thread: "t"}) {
					n++
					if agent.CodeOf(err) != tc.want || tc.want == "" && e.Kind != tc.event.Kind || e.Floor != tc.event.Floor && err == nil {
						t.Errorf("got %+v, %v", e, err)
					}
				}
				if n != 1 {
					t.Errorf("%d elements", n)
				}
			})
		})
	}
}

// The watch ends when the consumer stops, the context ends or the client is closed,
// and leaves no goroutine (which the bubble would report).
func TestAWatchEndsWithItsConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, j := newWires(t), newJournal()
		j.append(1)
		f := j.fake()
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		for _, err := range c.Watch(t.Context(), agent.Watch{Thread: "t"}) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		for _, err := range c.Watch(within(t, time.Second), agent.Watch{Thread: "t"}) {
			if err != nil {
				t.Error(err)
			}
		}
		time.AfterFunc(time.Second, func() { _ = c.Close() })
		var last error
		for _, err := range c.Watch(t.Context(), agent.Watch{Thread: "t"}) {
			last = err
		}
		if !errors.Is(last, agent.ErrUnavailable) {
			t.Errorf("after Close: %v", last)
		}
	})
}

// standing is a claim that all nodes of a test serve.
type standing struct {
	mu      sync.Mutex
	claim   agent.Claim
	changed chan struct{}
}

func (s *standing) hold(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claim = agent.Claim{Name: "c", Holder: holder, Epoch: s.claim.Epoch + 1}
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *standing) watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for w.Claim == "c" && w.Thread == "" {
			s.mu.Lock()
			claim, changed := s.claim, s.changed
			s.mu.Unlock()
			if !yield(agent.Event{Kind: agent.EventClaim, Claim: claim}, nil) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Nodes fail during a watch of a claim: the watcher gets each holding once.
func TestAWatchOfAClaimSurvivesItsNodesWithoutRepeatingItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWires(t), &standing{changed: make(chan struct{})}
		serve := func(addr string) func() { f := &fake{watch: s.watch}; return w.serve(addr, f, f) }
		stop := map[string]func(){"a": serve("a"), "b": serve("b")}
		c := w.client(client.Options{Endpoints: []string{"a", "b"}, Fixed: true})
		ctx, cancel := context.WithCancel(t.Context())
		var watcher sync.WaitGroup
		var got string
		watcher.Go(func() {
			for e, err := range c.Watch(ctx, agent.Watch{Claim: "c"}) {
				if err != nil {
					t.Error(err)
				}
				got += fmt.Sprintf("%d%s ", e.Claim.Epoch, e.Claim.Holder)
			}
		})
		for i := range 6 {
			time.Sleep(100 * time.Millisecond)
			addr := []string{"a", "b"}[i%2]
			stop[addr]()
			if i%3 == 0 {
				s.hold("h")
			}
			time.Sleep(200 * time.Millisecond)
			stop[addr] = serve(addr)
		}
		time.Sleep(time.Minute)
		cancel()
		watcher.Wait()
		if want := "0 1h 2h "; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}
