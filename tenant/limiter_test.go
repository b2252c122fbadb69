package tenant_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/tenant"
)

// limited returns a service over an empty store, with a policy for each scope that the test may
// change.
func limited(policies map[string]agent.Policy) (*tenant.Service, *tenant.Limiter) {
	l := tenant.NewLimiter(func(scope string) agent.Policy { return policies[scope] })
	return tenant.NewService(memstore.New(), l, func(v any) int {
		switch v := v.(type) {
		case *agent.PutValue:
			return len(v.Bytes)
		case *agent.Value:
			return len(v.Bytes)
		}
		return 0
	}), l
}

func put(s agent.Service, scope string, bytes int) error {
	_, err := s.Commit(context.Background(), agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: make([]byte, bytes)}}})
	return err
}

func get(s agent.Service, scope string) error {
	_, err := s.Read(context.Background(), agent.Reads{Scope: scope, Reads: []agent.Read{&agent.GetValue{Key: "k"}}})
	return err
}

func refusal(t *testing.T, err error, limit string) time.Duration {
	t.Helper()
	e, ok := err.(*agent.Error) //nolint:errorlint // a Service returns nothing else
	if !ok || e.Code != agent.CodeOverloaded || e.Limit != limit || e.RetryAfterMS < 1 {
		t.Fatalf("%+v, want a refusal by %s", err, limit)
	}
	return time.Duration(e.RetryAfterMS) * time.Millisecond
}

// A scope has what its rate brings in any second, and a burst of one second. The refusal says when
// the next call is served. Other scopes notice nothing.
func TestAScopeHasItsRateOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := limited(map[string]agent.Policy{"a": {RequestsPerSecond: 10}})
		for range 5 {
			if err := put(s, "a", 1); err != nil {
				t.Fatal(err)
			}
			if err := get(s, "a"); err != nil {
				t.Fatal(err)
			}
		}
		refusal(t, put(s, "a", 1), "requests_per_second=10")
		wait := refusal(t, get(s, "a"), "requests_per_second=10")
		for range 1000 {
			if err := put(s, "b", 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(wait + 100*time.Millisecond)
		if err := put(s, "a", 1); err != nil {
			t.Fatal(err)
		}
		served := 0
		for range 10_000 {
			if put(s, "a", 1) == nil {
				served++
			}
			time.Sleep(time.Millisecond)
		}
		if served < 99 || served > 101 {
			t.Fatalf("%d calls were served in ten seconds", served)
		}
		kept, _ := l.Counts()
		if kept["a"].Requests != uint64(11+served) || kept["a"].Refused != uint64(2+10_000-served) || kept["b"].Requests != 1000 {
			t.Fatalf("%+v", kept)
		}
	})
}

// Bytes of writes and answers count. A call that is larger than a second's worth is served, and the
// scope then waits until it is paid for.
func TestAScopeHasItsRateOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := limited(map[string]agent.Policy{"a": {BytesPerSecond: 1000}})
		if err := put(s, "a", 5000); err != nil {
			t.Fatal(err)
		}
		if wait := refusal(t, get(s, "a"), "bytes_per_second=1000"); wait != 4*time.Second {
			t.Fatalf("the wait is %v", wait)
		}
		time.Sleep(4*time.Second + time.Millisecond)
		if err := get(s, "a"); err != nil {
			t.Fatal(err)
		}
		refusal(t, put(s, "a", 1), "bytes_per_second=1000") // the answer had 5,000 bytes
	})
}

// A new policy takes effect within a few seconds, also for a scope that was out of debt.
func TestANewPolicyTakesEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policies := map[string]agent.Policy{}
		s, _ := limited(policies)
		for range 100 {
			if err := put(s, "a", 1); err != nil {
				t.Fatal(err)
			}
		}
		policies["a"] = agent.Policy{RequestsPerSecond: 1}
		time.Sleep(2 * time.Second)
		if err := put(s, "a", 1); err != nil {
			t.Fatal(err)
		}
		refusal(t, put(s, "a", 1), "requests_per_second=1")
		policies["a"] = agent.Policy{}
		time.Sleep(2 * time.Second)
		for range 100 {
			if err := put(s, "a", 1); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A scope that has used a second's worth of a high rate is served again after a second of a lower one, and not after
// the time in which the lower one would pay for it.
func TestALowerRateDoesNotLockAScopeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policies := map[string]agent.Policy{"a": {RequestsPerSecond: 1000, BytesPerSecond: 1 << 20}}
		s, _ := limited(policies)
		for range 1000 {
			if err := put(s, "a", 1<<10); err != nil {
				t.Fatal(err)
			}
		}
		policies["a"] = agent.Policy{RequestsPerSecond: 1, BytesPerSecond: 1 << 10}
		time.Sleep(1500 * time.Millisecond)
		_ = put(s, "a", 1) // now the new policy applies
		time.Sleep(1100 * time.Millisecond)
		if err := put(s, "a", 1); err != nil {
			t.Fatal(err)
		}
	})
}

// Watches count while they are read.
func TestAScopeHasItsWatches(t *testing.T) {
	s, l := limited(map[string]agent.Policy{agent.DefaultScope: {WatchesMax: 2}})
	open := func() func() {
		next, stop := iter.Pull2(s.Watch(t.Context(), agent.Watch{Claim: "c"}))
		if _, err, ok := next(); err != nil || !ok {
			t.Fatal(err)
		}
		return stop
	}
	first, second := open(), open()
	for _, err := range s.Watch(t.Context(), agent.Watch{Claim: "c"}) {
		refusal(t, err, "watches_max=2")
	}
	if kept, _ := l.Counts(); kept[agent.DefaultScope] != (tenant.Counts{Requests: 2, Refused: 1}) {
		t.Errorf("it counts %+v", kept[agent.DefaultScope])
	}
	first()
	first = open()
	first()
	second()
	if n := l.Watches(agent.DefaultScope); n != 0 {
		t.Fatalf("%d watches are left", n)
	}
}

// The limiter keeps a bounded number of scopes; what it forgets is still counted.
func TestALimiterKeepsABoundedNumberOfScopes(t *testing.T) {
	s, l := limited(nil)
	const n = tenant.ScopesMax + 100
	for i := range n {
		if err := get(s, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	kept, others := l.Counts()
	if len(kept) != tenant.ScopesMax || others.Requests != n-tenant.ScopesMax {
		t.Fatalf("it keeps %d scopes, and counts %+v of the others", len(kept), others)
	}
}

// A watch that a rate refuses does not count for the watches.
func TestAWatchThatARateRefusesLeavesItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := limited(map[string]agent.Policy{agent.DefaultScope: {WatchesMax: 1, RequestsPerSecond: 1}})
		if err := get(s, ""); err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Watch(t.Context(), agent.Watch{Claim: "c"}) {
			refusal(t, err, "requests_per_second=1")
		}
		if n := l.Watches(agent.DefaultScope); n != 0 {
			t.Errorf("%d watches are open", n)
		}
	})
}

// A scope without a name is the default scope, whatever is called.
func TestAScopeWithoutANameHasTheRateOfTheDefaultScope(t *testing.T) {
	scopes := []string{"", agent.DefaultScope}
	for name, call := range map[string]func(s *tenant.Service, i agent.Instances, scope string) error{
		"commit": func(s *tenant.Service, _ agent.Instances, scope string) error { return put(s, scope, 1) },
		"read":   func(s *tenant.Service, _ agent.Instances, scope string) error { return get(s, scope) },
		"signal": func(_ *tenant.Service, i agent.Instances, scope string) error {
			_, err := i.Signal(context.Background(), agent.InstanceRef{Scope: scope}, agent.Signal{})
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, l := limited(map[string]agent.Policy{agent.DefaultScope: {RequestsPerSecond: 2}})
			i := tenant.NewInstances(signalled{}, l)
			for _, scope := range scopes {
				if err := call(s, i, scope); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			for _, scope := range scopes {
				refusal(t, call(s, i, scope), "requests_per_second=2")
			}
		})
	}
}

// signalled are instances that accept signals. They answer SignalGet with a state of 20 bytes.
type signalled struct{ agent.Instances }

func (signalled) Signal(_ context.Context, _ agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if signal.Type == agent.SignalGet {
		return agent.Reply{Data: agent.JSON(`{"state":"012345678"}`)}, nil
	}
	return agent.Reply{}, nil
}

func (signalled) Start(context.Context, agent.InstanceRef, agent.StartInstance) (agent.Instance, error) {
	return agent.Instance{}, nil
}

func (signalled) Stats(context.Context, string, string) (agent.ManagerStats, error) {
	return agent.ManagerStats{}, nil
}

func (signalled) Watch(context.Context, agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) { yield(agent.InstanceEvent{}, nil) }
}

// The bytes of calls on instances count, also those of the reply to a signal.
func TestTheBytesOfASignalCount(t *testing.T) {
	long := agent.JSON(`{"long":"0123456789"}`)
	for name, call := range map[string]func(i agent.Instances, ref agent.InstanceRef) error{
		"signal": func(i agent.Instances, ref agent.InstanceRef) error {
			_, err := i.Signal(t.Context(), ref, agent.Signal{Data: long})
			return err
		},
		"reply": func(i agent.Instances, ref agent.InstanceRef) error {
			_, err := i.Signal(t.Context(), ref, agent.Signal{Type: agent.SignalGet})
			return err
		},
		"initial state": func(i agent.Instances, ref agent.InstanceRef) error {
			_, err := i.Start(t.Context(), ref, agent.StartInstance{InitialState: long})
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			policy := agent.Policy{BytesPerSecond: 10}
			_, l := limited(map[string]agent.Policy{"a": policy, agent.DefaultScope: policy})
			i := tenant.NewInstances(signalled{}, l)
			for _, scope := range []string{"a", ""} {
				ref := agent.InstanceRef{Scope: scope}
				if err := call(i, ref); err != nil {
					t.Errorf("%s in scope %q: %v", name, scope, err)
				}
				refusal(t, call(i, ref), "bytes_per_second=10")
			}
		})
	}
}
