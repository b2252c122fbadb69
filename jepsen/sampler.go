package jepsen

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

const (
	sampleEvery = time.Second
	// tellEvery is the interval of the progress lines about calls.
	tellEvery = 5 * time.Second
)

// watch samples every node each second. It records each change of the leader and each
// stall of the machine, and reports progress. The returned stop ends it.
func (r *run) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupted run is sampled until it ends
	var wait sync.WaitGroup
	wait.Go(func() {
		w := &watcher{run: r, asking: map[string]bool{}}
		w.watch(ctx)
	})
	wait.Go(func() { r.stalls(ctx) })
	return func() {
		cancel()
		wait.Wait()
	}
}

type watcher struct {
	run    *run
	mu     sync.Mutex
	asking map[string]bool // guarded by mu; nodes with a sample in progress, at most one each
	leader string          // guarded by mu
	term   uint64          // guarded by mu; of leader
	wait   sync.WaitGroup
}

func (w *watcher) watch(ctx context.Context) {
	defer w.wait.Wait()
	told := time.Now()
	for pause.For(ctx, sampleEvery) {
		for _, n := range w.run.stage.nodes() {
			if w.begin(n.name) {
				w.wait.Go(func() { w.ask(ctx, n) })
			}
		}
		if time.Since(told) >= tellEvery {
			told = time.Now()
			t := &w.run.tally
			w.run.tell(fmt.Sprintf("calls: %d ok, %d refused, %d unknown", t.ok.Load(), t.refused.Load(), t.unknown.Load()))
		}
	}
}

func (w *watcher) begin(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking[name] {
		return false
	}
	w.asking[name] = true
	return true
}

// ask samples one node.
func (w *watcher) ask(ctx context.Context, n node) {
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.asking, n.name)
	}()
	s, err := w.run.stage.sample(ctx, n.name)
	if err != nil {
		return // the node is paused, cut off or has ended: the record of the faults shows why
	}
	w.run.sampled(n.name, "", 0, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Leader == n.name && s.Term >= w.term && (s.Leader != w.leader || s.Term != w.term) {
		w.leader, w.term = s.Leader, s.Term
		w.run.record.Event(history.Event{Kind: history.EventLeader, Node: n.name, Term: s.Term})
		w.run.tell(fmt.Sprintf("%s leads in term %d", n.name, s.Term))
	}
}

// sampled records a sample.
func (r *run) sampled(name, look string, step int, s check.Sample) {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Sample is numbers and strings
	}
	r.record.Event(history.Event{Kind: history.EventSample, Name: look, Step: step, Node: name, Term: s.Term, Data: raw})
}
