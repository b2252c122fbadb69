package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/router"
)

// remoteProcesses is a set of processes with handlers, each of which returns what it did.
type remoteProcesses struct {
	mu      sync.Mutex
	leases  []layout.NodeLease
	changed chan struct{}
	play    map[string]func(ctx context.Context) (layout.RemoteTurnResult, error)
	asked   []string
	cut     string // the process that cannot be reached
}

func newRemoteProcesses(leases ...string) *remoteProcesses {
	r := &remoteProcesses{changed: make(chan struct{}), play: map[string]func(context.Context) (layout.RemoteTurnResult, error){}}
	for _, l := range leases {
		name, handlers, _ := strings.Cut(l, ":")
		r.leases = append(r.leases, layout.NodeLease{Node: name, Life: "1", Handlers: strings.Split(handlers, ",")})
	}
	return r
}

func (r *remoteProcesses) NodeLeases() []layout.NodeLease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.leases)
}

func (r *remoteProcesses) Members() []layout.Member {
	var members []layout.Member
	for _, l := range r.NodeLeases() {
		if l.Node != "stranger" {
			members = append(members, layout.Member{ID: l.Node, RaftAddr: "at-" + l.Node})
		}
	}
	return members
}

func (r *remoteProcesses) PartitionsChanged() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// leave ends a lease.
func (r *remoteProcesses) leave(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leases = slices.DeleteFunc(r.leases, func(l layout.NodeLease) bool { return l.Node == name })
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *remoteProcesses) Handlers(addr string) layout.RemoteHandlers {
	return player{r, strings.TrimPrefix(addr, "at-")}
}

// Ping is answered by all but those in cut.
func (r *remoteProcesses) Ping(ctx context.Context, addr string) error {
	if strings.TrimPrefix(addr, "at-") != r.cut {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

type player struct {
	r    *remoteProcesses
	name string
}

func (p player) Handle(ctx context.Context, _ layout.RemoteTurn) (layout.RemoteTurnResult, error) {
	p.r.mu.Lock()
	p.r.asked = append(p.r.asked, p.name)
	play := p.r.play[p.name]
	p.r.mu.Unlock()
	if play == nil {
		return layout.RemoteTurnResult{Reply: agent.JSON(p.name)}, nil
	}
	return play(ctx)
}

func remoteTurnFor(key, handler string, version uint64) layout.RemoteTurn {
	return layout.RemoteTurn{InstanceRef: agent.InstanceRef{Scope: "s", Manager: "m", Key: key}, Handler: handler, Version: version}
}

func TestARemoteTurnGoesToAProcessWithItsHandler(t *testing.T) {
	r := newRemoteProcesses("me:f@1,f@2,g@1", "h1:f@1", "h2:f@2", "h3:g@0", "n1:", "stranger:g@1")
	remote := router.NewRemoteTurns("me", r, r)
	for _, c := range []struct {
		handler string
		version uint64
		want    string // "" for no process
	}{
		{"f", 1, "h1"}, {"f", 2, "h2"}, {"f", 3, ""}, {"f", 0, ""}, {"g", 1, "h3"}, {"g", 0, "h3"}, {"x", 1, ""}, {"", 0, ""},
	} {
		done, err := remote.Handle(t.Context(), remoteTurnFor("k", c.handler, c.version))
		if c.want != "" && (err != nil || string(done.Reply) != c.want) || c.want == "" && agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("%s at %d: %s, %v; want %q", c.handler, c.version, done.Reply, err, c.want)
		}
		if c.want == "" && !strings.Contains(err.Error(), fmt.Sprintf("Go handler %q for version %d, which manager \"m\" names", c.handler, c.version)) {
			t.Errorf("it does not say what is missing: %v", err)
		}
	}
}

// The reason not_registered means that no process has the handler, not that those with it fail for the
// moment.
func TestARemoteTurnThatFailsEverywhereIsNotCalledUnregistered(t *testing.T) {
	r := newRemoteProcesses("h1:f@1", "h2:f@1")
	fails := func(context.Context) (layout.RemoteTurnResult, error) {
		return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "it is stopping")
	}
	r.play["h1"], r.play["h2"] = fails, fails
	remote := router.NewRemoteTurns("me", r, r)
	for handler, want := range map[string]string{"f": "", "g": "not_registered"} {
		var e *agent.Error
		_, err := remote.Handle(t.Context(), remoteTurnFor("k", handler, 1))
		if !errors.As(err, &e) || e.Code != agent.CodeUnavailable || e.Reason != want {
			t.Errorf("handler %s: %+v, want the reason %q", handler, err, want)
		}
	}
}

// The remote turns of each partition go to one process, and to the next one if
// that does not answer. An answer is final.
func TestRemoteTurnsAreSharedAndPassedOn(t *testing.T) {
	r := newRemoteProcesses("h1:f@1", "h2:f@1", "h3:f@1")
	remote := router.NewRemoteTurns("me", r, r)
	first := map[string]int{}
	for i := range 300 {
		e := remoteTurnFor(fmt.Sprint(i), "f", 1)
		done, err := remote.Handle(t.Context(), e)
		again, _ := remote.Handle(t.Context(), e)
		if err != nil || string(again.Reply) != string(done.Reply) {
			t.Fatalf("%d: %s, then %s: %v", i, done.Reply, again.Reply, err)
		}
		first[string(done.Reply)]++
	}
	if len(first) != 3 || first["h1"] < 70 || first["h2"] < 70 || first["h3"] < 70 {
		t.Errorf("they were shared as %v", first)
	}
	away := func(context.Context) (layout.RemoteTurnResult, error) {
		return layout.RemoteTurnResult{}, agent.Errorf(agent.CodeUnavailable, "not there")
	}
	r.play["h1"], r.play["h2"], r.play["h3"] = away, away, away
	r.asked = nil
	_, err := remote.Handle(t.Context(), remoteTurnFor("k", "f", 1))
	if agent.CodeOf(err) != agent.CodeUnavailable || len(r.asked) != 3 || !strings.Contains(err.Error(), "not there") {
		t.Errorf("%v were asked: %v", r.asked, err)
	}
	last := r.asked[2]
	r.play[last] = func(context.Context) (layout.RemoteTurnResult, error) {
		return layout.RemoteTurnResult{Refusal: agent.Errorf(agent.CodeUnavailable, "the handler says so")}, nil
	}
	r.asked = nil
	if done, err := remote.Handle(t.Context(), remoteTurnFor("k", "f", 1)); err != nil || done.Refusal == nil || len(r.asked) != 3 {
		t.Errorf("%v were asked: %+v, %v", r.asked, done, err)
	}
}

// A caller waits for a process that is cut off until its lease or the caller's
// context ends.
func TestARemoteTurnDoesNotOutliveALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRemoteProcesses("h1:f@1", "h2:f@1")
		remote := router.NewRemoteTurns("me", r, r)
		done, err := remote.Handle(t.Context(), remoteTurnFor("k", "f", 1))
		if err != nil {
			t.Fatal(err)
		}
		gone, other := "h1", "h2"
		if string(done.Reply) == "h2" {
			gone, other = other, gone
		}
		r.play[gone] = func(ctx context.Context) (layout.RemoteTurnResult, error) {
			<-ctx.Done()
			return layout.RemoteTurnResult{}, ctx.Err()
		}
		go func() {
			synctest.Wait() // the turn has been sent
			r.leave(gone)
		}()
		if done, err = remote.Handle(t.Context(), remoteTurnFor("k", "f", 1)); err != nil || string(done.Reply) != other {
			t.Errorf("%s, %v", done.Reply, err)
		}

		r.play[other] = r.play[gone]
		ctx, cancel := context.WithCancelCause(t.Context())
		why := agent.Errorf(agent.CodeNotOwner, "it moved")
		go func() {
			synctest.Wait()
			cancel(why)
		}()
		if _, err = remote.Handle(ctx, remoteTurnFor("k", "f", 1)); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	})
}

// A process with a lease that does not answer pings is skipped for the next one.
func TestARemoteTurnLeavesAProcessThatAnswersNoPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRemoteProcesses("h1:f@1", "h2:f@1")
		turns := router.NewRemoteTurns("me", r, r)
		done, err := turns.Handle(t.Context(), remoteTurnFor("k", "f", 1))
		if err != nil {
			t.Fatal(err)
		}
		r.cut = string(done.Reply)
		r.play[r.cut] = func(ctx context.Context) (layout.RemoteTurnResult, error) {
			<-ctx.Done()
			return layout.RemoteTurnResult{}, ctx.Err()
		}
		began := time.Now()
		done, err = turns.Handle(t.Context(), remoteTurnFor("k", "f", 1))
		if err != nil || string(done.Reply) == r.cut || time.Since(began) > 5*time.Second {
			t.Errorf("%s, %v after %v", done.Reply, err, time.Since(began))
		}
	})
}
