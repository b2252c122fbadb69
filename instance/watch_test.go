package instance_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/instance"
)

// watchEvents is a watch and its events.
type watchEvents struct {
	mu     sync.Mutex
	events []string // guarded by mu
	ended  error
	stop   func()
}

func (e *watchEvents) add(event string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, event)
}

// take returns the events since the last call.
func (e *watchEvents) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	events := e.events
	e.events = nil
	return events
}

// watch watches manager m's instances, or one of them.
func (k *kit) watch(h *instance.Host, key string) *watchEvents {
	k.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e, done := &watchEvents{}, make(chan struct{})
	go func() {
		defer close(done)
		for event, err := range h.Watch(ctx, agent.InstanceWatch{Manager: "m", Key: key}) {
			switch {
			case err != nil:
				e.ended = err
			case event.Missed:
				e.add("missed")
			default:
				e.add(fmt.Sprintf("%s %s %s", event.Key, event.Status, event.Reason))
			}
		}
	}()
	e.stop = func() { cancel(); <-done }
	k.Cleanup(e.stop)
	synctest.Wait()
	return e
}

// expectEvents fails the test if the events since the last call differ.
func (k *kit) expectEvents(e *watchEvents, want ...string) {
	k.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, e.take()); diff != "" {
		k.Errorf("what was told:\n%s", diff)
	}
}

func TestAWatchReportsALifecycle(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute, Durability: agent.DurabilityIdle})
		k.put(agent.Manager{Name: "other"})
		all, one := k.watch(k.host, ""), k.watch(k.host, "b")
		k.expectEvents(all, "missed")
		k.expectEvents(one, "missed")
		k.start("a", "")
		k.expectEvents(all, "a waking called", "a awake fresh")
		k.send(k.host, "a", signal("patch", `{"n":1}`))
		k.expectEvents(all) // nothing has changed
		if _, err := k.host.Start(k.Context(), agent.InstanceRef{Manager: "other", Key: "a"}, agent.StartInstance{}); err != nil {
			k.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		k.expectEvents(all, "a draining idle", "a dormant idle")
		k.send(k.host, "a", signal("get", `{}`))
		k.start("b", "")
		k.expectEvents(all, "a waking called", "a awake thawed", "b waking called", "b awake fresh")
		if err := k.host.Stop(k.Context(), ref("b")); err != nil {
			k.Fatal(err)
		}
		k.expectEvents(all, "b draining manual", "b dormant manual")
		k.expectEvents(one, "b waking called", "b awake fresh", "b draining manual", "b dormant manual")
		k.put(agent.Manager{Name: "m", Version: 2})
		k.send(k.host, "a", signal("get", `{}`))
		k.expectEvents(all, "a waking changed", "a awake thawed")
	})
}

func TestAWatchReportsMovesAndItsEnd(t *testing.T) {
	sim(t, nil, func(k *kit) {
		h2, _, _ := k.open("n2", nil)
		here, there := k.watch(k.host, ""), k.watch(h2, "")
		k.start("a", "")
		k.start("b", "")
		k.start("c", "")
		synctest.Wait()
		here.take()
		there.take()
		k.world.drain(partition("a"), "n2")
		time.Sleep(time.Second) // they are stored
		k.expectEvents(here, "a draining shutdown", "a dormant shutdown")
		k.world.give(partition("b"), "n2")
		k.expectEvents(here, "b dormant moved")
		k.send(h2, "a", signal("get", `{}`))
		k.expectEvents(there, "a waking called", "a awake thawed")
		k.stop()
		k.expectEvents(here, "c dormant shutdown")
		k.code(here.ended, agent.CodeUnavailable)
		for _, err := range k.host.Watch(k.Context(), agent.InstanceWatch{Manager: "m"}) {
			k.code(err, agent.CodeUnavailable)
		}
	})
}

func TestAWatchReportsFailures(t *testing.T) {
	sim(t, func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"bad": {New: func(agent.InstanceRef) instance.Handler { return panics{} }}}
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "bad"}})
		e := k.watch(k.host, "")
		k.start("a", "")
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", `{}`))
		k.code(err, agent.CodeHandlerFailed)
		synctest.Wait()
		time.Sleep(time.Second)
		k.expectEvents(e, "missed", "a waking called", "a awake fresh", "a waking crashed", "a dormant crashed")
		if err := k.putCheckpoint("b", 9); err != nil {
			k.Fatal(err)
		}
		_, err = k.host.Start(k.Context(), ref("b"), agent.StartInstance{})
		k.code(err, agent.CodeThawFailed)
		k.expectEvents(e, "b waking called", "b dormant failed")
	})
}

// A watch reports that an instance stays awake, and why: it was used meanwhile,
// or it could not be saved.
func TestAWatchReportsWhyAnInstanceStaysAwake(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute, Durability: agent.DurabilityIdle})
		e := k.watch(k.host, "")
		k.start("a", "")
		k.expectEvents(e, "missed", "a waking called", "a awake fresh")

		stored := make(chan error)
		hook(k.store, &k.store.before, func(agent.Commit) error { return <-stored })
		time.Sleep(time.Minute + time.Second)
		k.expectEvents(e, "a draining idle")
		if err := k.host.Touch(k.Context(), ref("a"), ""); err != nil {
			k.Fatal(err)
		}
		stored <- nil
		time.Sleep(100 * time.Millisecond)
		k.expectEvents(e, "a awake wanted")

		k.send(k.host, "a", signal("patch", `{"n":1}`))
		time.Sleep(time.Minute + time.Second)
		k.expectEvents(e, "a draining idle")
		stored <- agent.Errorf(agent.CodeOverloaded, "there is no room")
		k.expectEvents(e, "a awake failed")

		asked := make(chan error)
		go func() { asked <- k.host.Stop(k.Context(), ref("a")) }()
		time.Sleep(100 * time.Millisecond)
		k.expectEvents(e, "a draining manual")
		stored <- agent.Errorf(agent.CodeOverloaded, "there is no room")
		k.code(<-asked, agent.CodeOverloaded)
		k.expectEvents(e, "a awake failed")

		go func() { asked <- k.host.Stop(k.Context(), ref("a")) }()
		stored <- nil
		if err := <-asked; err != nil {
			k.Fatal(err)
		}
		k.expectEvents(e, "a draining manual", "a dormant manual")
	})
}

// putCheckpoint stores a checkpoint of a version without the host.
func (k *kit) putCheckpoint(key string, version uint64) error {
	_, err := k.node.Commit(k.Context(), agent.Commit{Ops: []agent.Op{
		&agent.PutCheckpoint{Key: ref(key).Checkpoint(), Version: version, State: agent.JSON(`{}`)},
	}})
	return err
}

type panics struct{}

func (panics) Handle(context.Context, *instance.Turn) error { panic("as it was told to") }

// A slow watcher costs the host a bounded buffer and delays no other watcher.
// It gets a Missed event after the buffered events.
func TestASlowWatcherGetsAMissedEvent(t *testing.T) {
	sim(t, nil, func(k *kit) {
		ctx, cancel := context.WithCancel(k.Context())
		defer cancel()
		next, got, done := make(chan struct{}), []agent.InstanceEvent{}, make(chan struct{})
		go func() {
			defer close(done)
			for event, err := range k.host.Watch(ctx, agent.InstanceWatch{Manager: "m"}) {
				if err != nil {
					k.Error(err)
				}
				got = append(got, event)
				select {
				case <-next:
				case <-ctx.Done():
				}
			}
		}()
		synctest.Wait()
		const lives = 300 // of four changes each
		for n := range lives {
			key := fmt.Sprint("k", n)
			k.start(key, "")
			if err := k.host.Stop(k.Context(), ref(key)); err != nil {
				k.Fatal(err)
			}
		}
		close(next)
		synctest.Wait()
		if n := len(got); n != instance.WatcherEventsMax+2 || !got[0].Missed || !got[n-1].Missed {
			k.Fatalf("%d events; the last: %+v", n, got[n-1])
		}
		if slices.ContainsFunc(got[1:len(got)-1], func(e agent.InstanceEvent) bool { return e.Missed }) {
			k.Error("something was missed in between")
		}
		k.start("again", "")
		synctest.Wait()
		if last := got[len(got)-1]; last.Key != "again" || last.Status != agent.InstanceAwake {
			k.Errorf("after what was missed: %+v", last)
		}
		cancel()
		<-done
	})
}

func TestAnInvalidWatchIsRefused(t *testing.T) {
	sim(t, nil, func(k *kit) {
		for _, err := range k.host.Watch(k.Context(), agent.InstanceWatch{}) {
			k.code(err, agent.CodeInvalid)
		}
		var last *watchEvents
		for range instance.WatchersMax {
			last = k.watch(k.host, "")
		}
		for _, err := range k.host.Watch(k.Context(), agent.InstanceWatch{Manager: "m"}) {
			k.code(err, agent.CodeOverloaded)
		}
		last.stop()
		k.expectEvents(k.watch(k.host, ""), "missed")
	})
}
