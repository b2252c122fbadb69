package fsm_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/fsm/kv"
)

// timerModel is agenttest's model. Due timers are not stored, but computed from the time.
type timerModel struct {
	now    int64
	newest uint64
	timers memstore.TimerModel
}

func (m *timerModel) op(op agent.Op, got agent.OpResult) (agent.OpResult, agent.Code) {
	result, refusal, ok := m.timers.Apply(op, m.now, func() uint64 {
		made, ok := got.(*agent.TimerResult)
		switch {
		case !ok: // of a commit that is refused: its value is unknown
			return 0
		case made.Timer.Generation <= m.newest:
			panic("a generation was used before")
		}
		m.newest = made.Timer.Generation
		return m.newest
	})
	switch {
	case !ok:
		panic(fmt.Sprintf("%T", op))
	case refusal != nil:
		return nil, refusal.Code
	default:
		return result, ""
	}
}

func timerPath(manager, key, id string) string { return manager + "/" + key + "/" + id }

// names returns the timers in the order of their rows.
func (m *timerModel) names() []memstore.TimerName {
	return slices.SortedFunc(maps.Keys(m.timers), func(a, b memstore.TimerName) int {
		return cmp.Compare(timerPath(a.Manager, a.Key, a.ID), timerPath(b.Manager, b.Key, b.ID))
	})
}

// due lists the paths of the timers that must be fired or computed.
func (m *timerModel) due() (paths []string) {
	for _, n := range m.names() {
		if t := m.timers[n]; !t.Parked && max(t.Next, t.NotBefore) <= m.now {
			paths = append(paths, timerPath(n.Manager, n.Key, n.ID))
		}
	}
	return paths
}

// draw draws an op that is often valid.
func (m *timerModel) draw(t *rapid.T) agent.Op {
	manager, key := rapid.SampledFrom([]string{"m", "n"}).Draw(t, "manager"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
	id := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "id")
	old := m.timers[memstore.TimerName{Manager: manager, Key: key, ID: id}]
	generation, instant := max(old.Generation, 1), old.Next
	if rapid.IntRange(0, 5).Draw(t, "off") == 0 {
		generation, instant = generation+uint64(rapid.IntRange(0, 1).Draw(t, "generation")), max(instant, 1)+1
	}
	soon := func(label string) int64 { return max(m.now, instant) + rapid.Int64Range(1, 3000).Draw(t, label) }
	switch rapid.IntRange(0, 9).Draw(t, "op") {
	case 0:
		return &agent.DeleteTimer{Manager: manager, Key: key, ID: id}
	case 1, 2:
		next := int64(0)
		if rapid.Bool().Draw(t, "next") {
			next = soon("ack")
		}
		return &agent.AckTimer{Manager: manager, Key: key, ID: id, Generation: generation, Instant: instant, Next: next}
	case 3, 4, 5:
		return &agent.FailTimer{
			Manager: manager, Key: key, ID: id, Generation: generation, Instant: instant, NotBefore: soon("retry"), Error: "it broke",
			Waits: rapid.IntRange(0, 2).Draw(t, "waits") == 0,
		}
	case 6, 7:
		return &agent.PutTimer{Timer: agent.Timer{Manager: manager, Key: key, ID: id, Cron: "@daily", Data: agent.JSON(`{"n":1}`)}}
	default:
		return &agent.PutTimer{Timer: agent.Timer{Manager: manager, Key: key, ID: id, Next: soon("at") - 1000}}
	}
}

func TestTimersAreAsTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newSubject(t)
		defer r.close()
		m := &timerModel{timers: memstore.TimerModel{}}
		for range rapid.IntRange(1, 60).Draw(rt, "entries") {
			r.after(time.Duration(rapid.IntRange(0, 2500).Draw(rt, "ms")) * time.Millisecond)
			m.now = r.wall
			var ops []agent.Op
			for range rapid.IntRange(0, 3).Draw(rt, "ops") {
				ops = append(ops, m.draw(rt))
			}
			if len(ops) == 0 {
				r.feed(nil)
			} else {
				m.commit(rt, r, ops)
			}
			m.same(rt, r)
		}
	})
}

// commit applies some ops to machine and model.
func (m *timerModel) commit(t *rapid.T, r *subject, ops []agent.Op) {
	got := r.batch(agent.Commit{Ops: ops})[0]
	before, newest := m.timers.Clone(), m.newest
	var want []agent.OpResult
	for i, op := range ops {
		var had agent.OpResult
		if got.Err == nil {
			had = got.Result.Results[i]
		}
		result, code := m.op(op, had)
		if code != "" {
			m.timers, m.newest = before, newest
			if got.Err == nil || got.Err.Code != code || got.Err.Op != i {
				t.Fatalf("%+v: got %v, want %s at op %d", op, got.Err, code, i)
			}
			return
		}
		want = append(want, result)
	}
	if got.Err != nil {
		t.Fatalf("%+v: %v", ops, got.Err)
	}
	if diff := gocmp.Diff(want, got.Result.Results, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-model +machine):\n%s", diff)
	}
}

// same compares what is read with the model.
func (m *timerModel) same(t *rapid.T, r *subject) {
	var bytes uint64
	var all []agent.Timer
	for _, n := range m.names() {
		timer := m.timers[n]
		all = append(all, timer)
		bytes += uint64(len(timer.Cron) + len(timer.Type) + len(timer.Data))
		got := read[*agent.Timer](r, &agent.GetTimer{Manager: timer.Manager, Key: timer.Key, ID: timer.ID})
		if diff := gocmp.Diff(&timer, got); diff != "" {
			t.Fatalf("%+v (-model +machine):\n%s", n, diff)
		}
	}
	for _, q := range []agent.ListTimers{{Manager: "m"}, {Manager: "n"}, {Manager: "m", Key: "a"}, {Manager: "m", Page: agent.Page{Prefix: "b"}}} {
		q.Limit = 2
		var got []agent.Timer
		for {
			page := read[*agent.TimerList](r, &q)
			got = append(got, page.Items...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		want := slices.DeleteFunc(slices.Clone(all), func(v agent.Timer) bool {
			return v.Manager != q.Manager || q.Key != "" && v.Key != q.Key || !strings.HasPrefix(v.Key, q.Prefix)
		})
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%+v (-model +machine):\n%s", q, diff)
		}
	}
	if diff := gocmp.Diff(m.due(), duePaths(t, r), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("due at %d (-model +machine):\n%s", m.now, diff)
	}
	if len(m.timers) > 0 {
		scope := read[*agent.Scope](r, &agent.GetScope{})
		if scope.Keys != uint64(len(m.timers)) || scope.Bytes != bytes {
			t.Fatalf("the scope counts %d keys and %d bytes, the model %d and %d", scope.Keys, scope.Bytes, len(m.timers), bytes)
		}
	} else if n := r.rows(kv.KindTimer) + r.rows(kv.KindTimerData) + r.rows(kv.KindTimerDue) + r.rows(kv.KindDueWall); n != 0 {
		t.Fatalf("%d rows are left of no timers", n)
	}
}

// duePaths returns the due timers of the machine, read page by page.
func duePaths(t interface{ Fatal(...any) }, r *subject) (paths []string) {
	for from := ""; ; {
		due, next, wall, err := r.machine.DueTimers(from, 2)
		if err != nil {
			t.Fatal(err)
		}
		if wall != r.wall {
			t.Fatal("due as of another time than the log's")
		}
		for _, d := range due {
			paths = append(paths, timerPath(d.Manager, d.Key, d.ID))
		}
		if from = next; from == "" {
			return paths
		}
	}
}
