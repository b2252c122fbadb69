package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/bench/load"
)

// memory is a system that keeps everything in maps and checks revs.
type memory struct {
	mu          sync.Mutex
	checkpoints map[string][]byte // guarded by mu, like the next two
	threads     map[string]uint64 // :: thread → rev
	calls       int
	fail        error // error of every call; nil means none
}

func newMemory() *memory {
	return &memory{checkpoints: map[string][]byte{}, threads: map[string]uint64{}}
}

func (m *memory) Put(_ context.Context, key string, checkpoint []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if !json.Valid(checkpoint) {
		return fmt.Errorf("%s is no JSON", checkpoint)
	}
	m.checkpoints[key] = checkpoint
	return m.fail
}

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.checkpoints[key] == nil {
		return nil, fmt.Errorf("there is no %s", key)
	}
	return m.checkpoints[key], m.fail
}

func (m *memory) Append(_ context.Context, t *load.Thread, entries ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.threads[t.ID] != t.Rev {
		return fmt.Errorf("%s is at %d, not %d", t.ID, m.threads[t.ID], t.Rev)
	}
	for _, e := range entries {
		if !json.Valid(e) {
			return fmt.Errorf("%s is no JSON", e)
		}
	}
	t.Rev += uint64(len(entries))
	m.threads[t.ID] = t.Rev
	return m.fail
}

func (m *memory) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	if err := m.Append(ctx, t, entries...); err != nil {
		return err
	}
	return m.Put(ctx, t.ID, checkpoint)
}

func (m *memory) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	checkpoint, err := m.Get(ctx, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	return checkpoint, min(tail, int(m.threads[key])), err
}

func (m *memory) Look(_ context.Context, t *load.Thread) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Rev = m.threads[t.ID]
	return nil
}

func (m *memory) Close() error { return nil }

func options(t *testing.T, workload string) load.Options {
	t.Helper()
	w, ok := load.ByName(workload)
	if !ok {
		t.Fatalf("there is no workload %s", workload)
	}
	return load.Options{Workload: w, Callers: 8, Duration: 5 * time.Millisecond, Prefix: "test"}
}

func TestEveryWorkloadFindsWhatItNeeds(t *testing.T) {
	for _, w := range load.Workloads {
		t.Run(w.Name, func(t *testing.T) {
			o, d := options(t, w.Name), newMemory()
			for range 2 { // the second time on existing agents
				got, err := load.Run(t.Context(), d, o)
				if err != nil {
					t.Fatal(err)
				}
				if got.Workload != w.Name || got.Callers != 8 || got.Agents < 8 || got.Errors != 0 || got.Seconds <= 0 {
					t.Errorf("the result is %+v", got)
				}
				o.Stored = true
			}
		})
	}
}

func TestTheWindowIsTold(t *testing.T) {
	o := options(t, "put-1k")
	var told []bool
	var answers sync.Map
	o.Window = func(opens bool) { told = append(told, opens) }
	o.Answered = func(at time.Time) { answers.Store(at, true) }
	m := newMemory()
	var got load.Result
	for got.Ops == 0 { // a busy machine may run no caller in such a short window
		told = nil
		var err error
		if got, err = load.Run(t.Context(), m, o); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(told) != "[true false]" {
			t.Fatalf("the window's ends were told as %v", told)
		}
	}
	if got.Ops > int64(m.calls) || got.Rate <= 0 || got.P50 > got.P99 || got.P99 > got.Max {
		t.Errorf("of %d calls the result is %+v", m.calls, got)
	}
}

// silent is a system that never answers a put.
type silent struct{ *memory }

func (s silent) Put(ctx context.Context, _ string, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestARunEndsAlthoughACallDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workload, _ := load.ByName("put-1k")
		began := time.Now()
		result, err := load.Run(t.Context(), silent{newMemory()}, load.Options{Workload: workload, Callers: 2, Agents: 2, Duration: time.Second, Prefix: "a"})
		if err != nil || result.Ops != 0 {
			t.Errorf("the run has %d calls: %v", result.Ops, err)
		}
		if took := time.Since(began); took < time.Second || took > time.Minute {
			t.Errorf("the run took %v", took)
		}
	})
}

func TestTheFirstFailureEndsARunUnlessItMayGoOn(t *testing.T) {
	m := newMemory()
	m.fail = errors.New("broken")
	o := options(t, "put-1k")
	o.Duration = time.Hour
	if _, err := load.Run(t.Context(), m, o); !errors.Is(err, m.fail) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Failed = func(error) bool {
		cancel()
		return true
	}
	if _, err := load.Run(ctx, m, o); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted run ends with %v", err)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for what, change := range map[string]func(*load.Options){
		"unknown workload": func(o *load.Options) { o.Workload = load.Workload{} },
		"0 callers":        func(o *load.Options) { o.Callers = 0 },
		"1025 callers":     func(o *load.Options) { o.Callers = load.CallersMax + 1 },
		"duration":         func(o *load.Options) { o.Duration = 0 },
		"warm-up":          func(o *load.Options) { o.Warmup = -1 },
		"agents":           func(o *load.Options) { o.Agents = -1 },
		"prefix":           func(o *load.Options) { o.Prefix = "" },
	} {
		o := options(t, "put-1k")
		change(&o)
		if _, err := load.Run(t.Context(), newMemory(), o); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAFillIsWhatRunsFind(t *testing.T) {
	m := newMemory()
	told := 0
	f := load.Fill{Prefix: "p", First: 3, Agents: 2, Checkpoint: 1024, Entries: 250, Progress: func(n int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		told += n
	}}
	if err := f.Write(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if told != 2 || len(m.checkpoints) != 2 || len(m.checkpoints["p-00000003"]) != 1024 || m.threads["p-00000004"] != 250 {
		t.Errorf("told of %d; stored %d checkpoints and threads %v", told, len(m.checkpoints), m.threads)
	}
}
