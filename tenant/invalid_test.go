package tenant_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/tenant"
)

// first returns the error that a watch begins with.
func first[E any](events iter.Seq2[E, error]) error {
	for _, err := range events {
		return err
	}
	return nil
}

// calls are the calls that name a scope.
var calls = map[string]func(ctx context.Context, s *tenant.Service, i agent.Instances, scope string) error{
	"commit": func(_ context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		return put(s, scope, 1)
	},
	"commit without ops": func(ctx context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		_, err := s.Commit(ctx, agent.Commit{Scope: scope})
		return err
	},
	"submit": func(ctx context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		_, err := agent.Await(ctx, s, agent.Commit{Scope: scope, Ops: []agent.Op{&agent.DeleteValue{Key: "k"}}})
		return err
	},
	"read": func(_ context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		return get(s, scope)
	},
	"read of nothing": func(ctx context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		_, err := s.Read(ctx, agent.Reads{Scope: scope})
		return err
	},
	"watch": func(ctx context.Context, s *tenant.Service, _ agent.Instances, scope string) error {
		return first(s.Watch(ctx, agent.Watch{Scope: scope, Claim: "c"}))
	},
	"signal": func(ctx context.Context, _ *tenant.Service, i agent.Instances, scope string) error {
		_, err := i.Signal(ctx, agent.InstanceRef{Scope: scope}, agent.Signal{})
		return err
	},
	"stats": func(ctx context.Context, _ *tenant.Service, i agent.Instances, scope string) error {
		_, err := i.Stats(ctx, scope, "m")
		return err
	},
	"watch of instances": func(ctx context.Context, _ *tenant.Service, i agent.Instances, scope string) error {
		return first(i.Watch(ctx, agent.InstanceWatch{Scope: scope, Manager: "m"}))
	},
}

// A scope that no policy can have would stay in the memory of the limiter: thousands of them are gigabytes.
func TestALimiterKeepsNoInvalidScope(t *testing.T) {
	long := strings.Repeat("s", 1<<20)
	for name, call := range calls {
		s, l := limited(nil)
		if err := call(t.Context(), s, tenant.NewInstances(signalled{}, l), long); agent.CodeOf(err) != agent.CodeTooLarge {
			t.Errorf("%s: %.100v", name, err)
		}
		if kept, _ := l.Counts(); len(kept) != 0 {
			t.Errorf("%s: the limiter keeps the scope", name)
		}
		if l.Watches(long) != 0 {
			t.Errorf("%s: the limiter counts a watch", name)
		}
	}
}

// A call that is invalid in other ways uses up no rate either.
func TestAnInvalidCallUsesUpNoRate(t *testing.T) {
	s, l := limited(map[string]agent.Policy{"a": {RequestsPerSecond: 1}})
	for _, name := range []string{"commit without ops", "read of nothing"} {
		if err := calls[name](t.Context(), s, nil, "a"); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := first(s.Watch(t.Context(), agent.Watch{Scope: "a"})); agent.CodeOf(err) != agent.CodeInvalid {
		t.Error(err)
	}
	if kept, _ := l.Counts(); kept["a"] != (tenant.Counts{}) {
		t.Errorf("it counts %+v", kept["a"])
	}
	if err := get(s, "a"); err != nil {
		t.Error(err)
	}
}
