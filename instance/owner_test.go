package instance_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/instance"
)

// TestOwnerConformance tests the host's part of ownership, by conformance id.
func TestOwnerConformance(t *testing.T) {
	for id, test := range map[string]func(k *kit){
		"CL-3: a hand-off keeps the state and leaves no old copy": func(k *kit) {
			h2, _, _ := k.open("n2", nil)
			k.send(k.host, "a", signal("turn", `{"entries":{"kind":"x"},"patch":{"n":1}}`))
			k.world.drain(partition("a"), "n2")
			synctest.Wait()
			if s := k.stats(); s.Awake != 0 {
				k.Errorf("an old copy: %+v", s)
			}
			_, err := k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
			if e := k.refusal(err, agent.CodeNotOwner); e.Holder != "n2" {
				k.Errorf("%+v", e)
			}
			if got := k.state(h2, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
			if reply := k.send(h2, "a", signal("append", `{"entries":{"kind":"y"}}`)); reply.Rev != 2 || reply.Node != "n2" {
				k.Errorf("%+v", reply)
			}
		},
		"CL-4: after an owner's death the newest acknowledged state is there": func(k *kit) {
			h2, _, _ := k.open("n2", nil)
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			k.stop()
			k.world.give(partition("a"), "n2")
			if got := k.state(h2, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
			_, err := k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
			if agent.CodeOf(err) != agent.CodeUnavailable && agent.CodeOf(err) != agent.CodeNotOwner {
				k.Errorf("the dead one answers %v", err)
			}
		},
		"CL-6: a stale owner's write is refused by the fence": staleOwner,
		"CL-7: two who both believe that they own make no duplicate": func(k *kit) {
			h2, _, _ := k.open("n2", nil)
			k.send(k.host, "a", signal("append", `{"entries":{"kind":"first"}}`))
			k.g.cut(time.Hour) // n1 sees no later changes, and takes its lease as valid
			k.world.give(partition("a"), "n2")
			s := requested(signal("append", `{"entries":{"kind":"second"}}`), "c", 1)
			_, err := k.host.Signal(k.Context(), ref("a"), s)
			k.code(err, agent.CodeNotOwner)
			if reply := k.send(h2, "a", s); reply.Rev != 2 { // the same request at the new owner
				k.Errorf("%+v", reply)
			}
			if reply := k.send(h2, "a", s); reply.Rev != 2 {
				k.Errorf("%+v", reply)
			}
			if got := k.entries("a"); !slices.Equal(got, []string{"first", "second"}) {
				k.Errorf("%v", got)
			}
		},
		"CL-9: a move is told of on both sides, and counted": func(k *kit) {
			h2, _, _ := k.open("n2", nil)
			k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			here, there := k.watch(k.host, ""), k.watch(h2, "")
			k.expectEvents(here, "missed") // as at the start of any watch
			k.expectEvents(there, "missed")
			k.world.drain(partition("a"), "n2")
			time.Sleep(time.Second)
			k.expectEvents(here, "a draining shutdown", "a dormant shutdown")
			k.send(h2, "a", signal("get", `{}`))
			k.expectEvents(there, "a waking called", "a awake thawed")
			if s := k.stats(); s.Hibernated != 1 || s.Failed != 0 || s.Awake != 0 {
				k.Errorf("the old owner counts %+v", s)
			}
		},
		"CL-10: a drain takes no more, and finishes what it has": drains,
		"CL-11: a hand-off stops where a hibernation fails": func(k *kit) {
			k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			hook(k.store, &k.store.before, func(agent.Commit) error { return agent.Errorf(agent.CodeUnavailable, "cut off") })
			k.world.drain(partition("a"), "n2")
			time.Sleep(time.Minute)
			p := k.world.partition(partition("a"))
			if p.Owner != "n1" || p.State != layout.PartitionOwned || len(k.world.kept) != 1 || !strings.Contains(p.Why, "cut off") {
				k.Errorf("%+v, %v", p, k.world.kept)
			}
			hook(k.store, &k.store.before, nil)
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
			k.world.drain(partition("a"), "n2")
			time.Sleep(time.Second)
			if p := k.world.partition(partition("a")); p.Owner != "n2" {
				k.Errorf("%+v", p)
			}
		},
	} {
		t.Run(id, func(t *testing.T) { sim(t, nil, test) })
	}
}

// A node that was paused for longer than its lease continues, and the store
// refuses its writes.
func staleOwner(k *kit) {
	h2, _, _ := k.open("n2", nil)
	k.send(k.host, "a", signal("patch", `{"n":1}`))
	var moved bool
	hook(k.store, &k.store.before, func(c agent.Commit) error {
		if c.Fence != nil && !moved { // between the handler and the store
			moved = true
			k.world.give(partition("a"), "n2")
		}
		return nil
	})
	k.g.cut(time.Hour)
	_, err := k.host.Signal(k.Context(), ref("a"), signal("patch", `{"n":2}`))
	k.code(err, agent.CodeNotOwner)
	if got := k.state(h2, "a"); got != `{"n":1}` {
		k.Errorf("state %s", got)
	}
	// A turn without writes is not answered from memory either.
	k.g.mend()
	_, err = k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
	k.code(err, agent.CodeNotOwner)
}

func drains(k *kit) {
	k.start("a", "")
	release := make(chan struct{})
	hook(k.store, &k.store.before, func(agent.Commit) error { <-release; return nil })
	replies := make(chan agent.Reply, 3)
	for range 3 {
		go func() { replies <- k.send(k.host, "a", signal("append", `{"entries":{}}`)) }()
	}
	synctest.Wait()
	k.world.drain(partition("a"), "n2")
	synctest.Wait()
	_, err := k.host.Signal(k.Context(), ref("a"), signal("append", `{"entries":{}}`))
	if e := k.refusal(err, agent.CodeNotOwner); e.Reason != "draining" || e.Holder != "n1" || e.RetryAfterMS == 0 {
		k.Errorf("%+v", e)
	}
	close(release)
	last := uint64(0)
	for range 3 {
		last = max(last, (<-replies).Rev)
	}
	synctest.Wait()
	time.Sleep(time.Second)
	if p := k.world.partition(partition("a")); last != 3 || p.Owner != "n2" {
		k.Errorf("rev %d, %+v", last, p)
	}
}

func TestAConfirmingReadFindsAnotherOwner(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("patch", `{"n":1}`))
		hook(k.store, &k.store.read, func(r agent.Reads) error {
			if _, ok := r.Reads[0].(*agent.GetManager); ok && !r.Stale {
				hook(k.store, &k.store.read, nil)
				k.world.give(partition("a"), "n2") // before the read is answered
			}
			return nil
		})
		_, err := k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
		if e := k.refusal(err, agent.CodeNotOwner); e.Holder != "n2" {
			k.Errorf("%+v", e)
		}
	})
}

func TestAnExpiredLeaseInterruptsAllTurns(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.handle = func(*instance.Turn) error { return nil }
		k.send(k.host, "a", signal("x", ""))
		k.g.cut(5 * time.Second)
		stopped := make(chan time.Duration, 1)
		f.patient = func(ctx context.Context, t *instance.Turn) error {
			began := time.Now()
			<-ctx.Done()
			stopped <- time.Since(began)
			return t.SetState(agent.JSON(`{"after":"the lease"}`))
		}
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeUnavailable)
		if after := <-stopped; after > 5*time.Second {
			k.Errorf("the handler was stopped after %v", after)
		}
		for what, call := range map[string]func() error{
			"signal": func() error { _, err := k.host.Signal(k.Context(), ref("a"), signal("x", "")); return err },
			"start":  func() error { _, err := k.host.Start(k.Context(), ref("b"), agent.StartInstance{}); return err },
			"attach": func() error { _, err := k.host.Attach(k.Context(), ref("a"), agent.Attach{}); return err },
			"lookup": func() error { _, err := k.host.Lookup(k.Context(), ref("a")); return err },
			"touch":  func() error { return k.host.Touch(k.Context(), ref("a"), "") },
			"stop":   func() error { return k.host.Stop(k.Context(), ref("a")) },
		} {
			if err := call(); agent.CodeOf(err) != agent.CodeUnavailable {
				k.Errorf("%s: %v", what, err)
			}
		}
		k.g.mend() // the partition has not moved
		f.patient = nil
		f.handle = func(t *instance.Turn) error { return t.Reply(t.State()) }
		if reply := k.send(k.host, "a", signal("x", "")); string(reply.Data) != `{}` {
			k.Errorf("%s", reply.Data)
		}
		if s := k.stats(); s.Wakes != 1 {
			k.Errorf("%+v", s)
		}
	})
}

func TestAMovedPartitionInterruptsItsTurns(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.patient = func(ctx context.Context, _ *instance.Turn) error { <-ctx.Done(); return ctx.Err() }
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			first <- err
		}()
		time.Sleep(time.Second)
		go func() {
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			second <- err
		}()
		time.Sleep(time.Second)
		k.world.give(partition("a"), "n2")
		k.code(<-first, agent.CodeNotOwner)
		k.code(<-second, agent.CodeNotOwner)
		if s := k.stats(); s.Awake+s.Waking+s.Draining != 0 {
			k.Errorf("%+v", s)
		}
		// A partition that returns has a new epoch, so all instances thaw
		// again.
		k.world.give(partition("a"), "n1")
		f.patient, f.handle = nil, func(*instance.Turn) error { return nil }
		k.send(k.host, "a", signal("x", ""))
		if s := k.stats(); s.Wakes != 2 {
			k.Errorf("%+v", s)
		}
	})
}

func TestAShutdownHibernatesAllInstances(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		for n := range 200 {
			k.send(k.host, keyIn(n), signal("patch", `{"n":1}`))
		}
		if err := k.host.Shutdown(k.Context()); err != nil {
			k.Fatal(err)
		}
		if s := k.stats(); s.Awake != 0 || s.Hibernated != 200 {
			k.Errorf("%+v", s)
		}
		if c := k.checkpoint(keyIn(7)); c == nil || c.Lifecycle != "shutdown" {
			k.Errorf("%+v", c)
		}
		_, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
		k.code(err, agent.CodeUnavailable)
	})
	sim(t, nil, func(k *kit) { // an instance that fails to save for a while
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("patch", `{"n":1}`))
		until := time.Now().Add(3 * time.Second)
		hook(k.store, &k.store.before, func(agent.Commit) error {
			if time.Now().Before(until) {
				return agent.Errorf(agent.CodeOverloaded, "too much at once")
			}
			return nil
		})
		if err := k.host.Shutdown(k.Context()); err != nil {
			k.Error(err)
		}
		if c := k.checkpoint("a"); c == nil || string(c.State) != `{"n":1}` {
			k.Errorf("%+v", c)
		}
	})
	sim(t, nil, func(k *kit) { // an instance that cannot be saved
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("patch", `{"n":1}`))
		hook(k.store, &k.store.before, func(agent.Commit) error { return agent.Errorf(agent.CodeUnavailable, "cut off") })
		ctx, cancel := context.WithTimeout(k.Context(), 10*time.Second)
		defer cancel()
		if err := k.host.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "1 of 1") {
			k.Errorf("%v", err)
		}
	})
}

func TestBeforeRunNothingIsAnswered(t *testing.T) {
	sim(t, nil, func(k *kit) {
		h, err := instance.New(instance.Options{Node: "n1", Incarnation: "1", Service: k.store, Ownership: k.g})
		if err != nil {
			k.Fatal(err)
		}
		_, err = h.Signal(k.Context(), ref("a"), signal("get", `{}`))
		k.code(err, agent.CodeUnavailable)
		_, err = h.Lookup(k.Context(), ref("a"))
		k.code(err, agent.CodeUnavailable)
		for _, o := range []instance.Options{
			{},
			{Node: "n1", Incarnation: "1"},
			{Node: "n1", Incarnation: "1", Service: k.store, Ownership: k.g, AwakeMax: -1},
			{Node: "n1", Incarnation: "1", Service: k.store, Ownership: k.g, Webhooks: instance.Webhooks{Keys: []instance.WebhookKey{{Name: "k", Secret: []byte("short")}}}},
		} {
			if _, err := instance.New(o); err == nil {
				k.Errorf("made of %+v", o)
			}
		}
	})
}
