package tenant_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/memstore"
	"dormouse/tenant"
)

// ending are tokens that are live until a time.
type ending struct {
	tokens

	at time.Time
}

func (e ending) Live(string) bool { return time.Now().Before(e.at) }

// quietInstances have no events.
type quietInstances struct{ agent.Instances }

func (quietInstances) Watch(ctx context.Context, _ agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) {
		<-ctx.Done()
		yield(agent.InstanceEvent{}, ctx.Err())
	}
}

// ends checks that a watch ends by itself after a time, and is counted until then.
func ends(t *testing.T, l *tenant.Limiter, events iter.Seq2[agent.Event, error], after time.Duration) {
	t.Helper()
	ended := make(chan error, 1)
	began := time.Now()
	go func() {
		var last error
		for _, err := range events {
			last = err
		}
		ended <- last
	}()
	synctest.Wait()
	if n := l.Watches("s"); n != 1 {
		t.Errorf("%d watches while it is quiet", n)
	}
	select {
	case err := <-ended:
		if took := time.Since(began); agent.CodeOf(err) != agent.CodeUnauthenticated || took != after {
			t.Errorf("after %v: %v", took, err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
	if n := l.Watches("s"); n != 0 {
		t.Errorf("%d watches are counted when it has ended", n)
	}
}

// A watch without events ends soon after its token was revoked, or as other credentials expire, and
// gives its place back.
func TestAQuietWatchEndsWithItsCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := tenant.NewLimiter(func(string) agent.Policy { return agent.Policy{} })
		grants := []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead}}}
		each := func(after time.Duration, credentials func() (access.Tokens, *access.Principal)) {
			for _, watch := range []func(context.Context, access.Tokens) iter.Seq2[agent.Event, error]{
				func(ctx context.Context, tokens access.Tokens) iter.Seq2[agent.Event, error] {
					return access.NewGuard(tenant.NewService(memstore.New(), l, func(any) int { return 0 }), tokens).Watch(ctx, agent.Watch{Scope: "s", Claim: "c"})
				},
				func(ctx context.Context, tokens access.Tokens) iter.Seq2[agent.Event, error] {
					return errorsOf(access.NewInstances(tenant.NewInstances(quietInstances{}, l), tokens).Watch(ctx, agent.InstanceWatch{Scope: "s", Manager: "m"}))
				},
			} {
				ctx, cancel := context.WithCancel(t.Context()) // ends a watch that does not end by itself
				tokens, p := credentials()
				ends(t, l, watch(access.With(ctx, p), tokens), after)
				cancel()
				synctest.Wait()
			}
		}
		each(30*time.Second, func() (access.Tokens, *access.Principal) {
			return ending{at: time.Now().Add(20 * time.Second)}, &access.Principal{Name: "p", TokenID: "t", Grants: grants}
		})
		each(20*time.Second, func() (access.Tokens, *access.Principal) {
			return tokens{}, &access.Principal{Name: "p", Grants: grants, Until: time.Now().Add(20 * time.Second)}
		})
	})
}

// errorsOf yields the errors of a watch.
func errorsOf(events iter.Seq2[agent.InstanceEvent, error]) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for _, err := range events {
			if !yield(agent.Event{}, err) {
				return
			}
		}
	}
}
