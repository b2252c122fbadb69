package instance_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"dormouse/agent"
	"dormouse/instance"
	"dormouse/node/nodetest"
)

// quick is a service that stores nothing and accepts everything, so a benchmark
// measures the host's own cost.
type quick struct {
	agent.Service
	manager agent.Manager
	index   atomic.Uint64
}

func (q *quick) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	result := agent.Result{Index: q.index.Add(1)}
	for _, op := range c.Ops {
		switch o := op.(type) {
		case *agent.AppendThread:
			rev := *o.ExpectedRev + uint64(len(o.Entries))
			result.Results = append(result.Results, &agent.ThreadResult{Thread: agent.Thread{ID: o.Thread, Rev: rev, Incarnation: 1}})
		case *agent.PutCheckpoint:
			result.Results = append(result.Results, &agent.CheckpointResult{Key: o.Key, Revision: *o.IfRevision + 1, Incarnation: 1})
		}
	}
	return result, nil
}

func (q *quick) Read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	answers := agent.Answers{Index: q.index.Load()}
	for _, read := range r.Reads {
		a := agent.Answer{Err: agent.ErrNotFound}
		switch read.(type) {
		case *agent.GetManager:
			a = agent.Answer{Found: &q.manager}
		case *agent.ListTimers:
			a = agent.Answer{Found: &agent.TimerList{}}
		}
		answers.Answers = append(answers.Answers, a)
	}
	return answers, nil
}

// benchHost runs a host of documents on a service; nil means quick.
func benchHost(b *testing.B, service agent.Service, m agent.Manager) *instance.Host {
	b.Helper()
	m.Name, m.Handler.Kind, m.Version, m.Incarnation, m.Revision = "m", agent.HandlerDocument, 1, 1, 1
	if m.Durability == "" {
		m.Durability = agent.DurabilityTurn
	}
	if service == nil {
		service = &quick{manager: m}
	}
	w := newWorld()
	w.giveAll("n1")
	h, err := instance.New(instance.Options{
		Node: "n1", Incarnation: "1", Service: service, Ownership: &nodeView{world: w, node: "n1"}, AwakeMax: 10_000_000,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ready := make(chan struct{})
	go func() { close(ready); done <- h.Run(ctx) }()
	<-ready
	for {
		if _, err := h.Lookup(ctx, ref("none")); agent.CodeOf(err) == agent.CodeNotFound {
			break
		}
		runtime.Gosched()
	}
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return h
}

func benchSignal(b *testing.B, h *instance.Host, key string, s agent.Signal) {
	b.Helper()
	if _, err := h.Signal(b.Context(), ref(key), s); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAwake measures an idle instance with a state of 64 bytes and an idle
// timeout. B/instance is the heap that it keeps.
func BenchmarkAwake(b *testing.B) {
	h := benchHost(b, nil, agent.Manager{IdleTimeout: 1 << 50})
	s := signal("patch", `{"name":"an instance that is awake and at rest","turns":12345678}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		s.Data = append(agent.JSON(nil), s.Data...) // as from separate callers
		benchSignal(b, h, strconv.Itoa(n), s)
		n++
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(n), "B/instance")
	b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
	runtime.KeepAlive(h)
}

// BenchmarkWake measures a wake and a hibernation of a stored instance.
func BenchmarkWake(b *testing.B) {
	h := benchHost(b, nil, agent.Manager{})
	for b.Loop() {
		if _, err := h.Start(b.Context(), ref("a"), agent.StartInstance{}); err != nil {
			b.Fatal(err)
		}
		if err := h.Stop(b.Context(), ref("a")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSignal measures turns of many concurrent instances.
func BenchmarkSignal(b *testing.B) {
	h := benchHost(b, nil, agent.Manager{})
	var callers atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		key, n := strconv.FormatInt(callers.Add(1), 10), uint64(0)
		for pb.Next() {
			n++
			benchSignal(b, h, key, requested(signal("append", `{"entries":{"payload":{"n":1}}}`), key, n))
		}
	})
}

// BenchmarkSignalOnANode is BenchmarkSignal on a whole node without a disk, and
// without fences. A caller acknowledges earlier answers, as the client library
// does, or never does. Without acknowledgements each entry writes its client's
// row with up to agent.RequestWindowMax requests, so signals become slower over
// time.
func BenchmarkSignalOnANode(b *testing.B) {
	b.Run("acknowledged", func(b *testing.B) { benchSignalOnANode(b, true) })
	b.Run("silent", func(b *testing.B) { benchSignalOnANode(b, false) })
}

func benchSignalOnANode(b *testing.B, acknowledges bool) {
	b.Helper()
	n := nodetest.Start(b)
	put := agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	if _, err := n.Commit(b.Context(), agent.Commit{Ops: []agent.Op{&put}}); err != nil {
		b.Fatal(err)
	}
	h := benchHost(b, unfenced{n.Client}, agent.Manager{})
	var callers atomic.Int64
	b.SetParallelism(64)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		key, n := strconv.FormatInt(callers.Add(1), 10), uint64(0)
		for pb.Next() {
			n++
			s := requested(signal("append", `{"entries":{"payload":{"n":1}}}`), key, n)
			if acknowledges {
				s.Request.Low = n
			}
			benchSignal(b, h, key, s)
		}
	})
}

type unfenced struct{ agent.Service }

func (u unfenced) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	c.Fence = nil
	return u.Service.Commit(ctx, c)
}

// BenchmarkHibernate measures the hibernation of an instance with unsaved
// state, and its wake.
func BenchmarkHibernate(b *testing.B) {
	h := benchHost(b, nil, agent.Manager{Durability: agent.DurabilityIdle})
	var callers atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		key := strconv.FormatInt(callers.Add(1), 10)
		for pb.Next() {
			benchSignal(b, h, key, signal("patch", `{"n":1}`))
			if err := h.Hibernate(b.Context(), ref(key)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
