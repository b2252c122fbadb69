package agenttest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"dormouse/agent"
)

// watcher collects the events of a watch of instances.
type watcher struct {
	k     *liveKit
	came  chan agent.InstanceEvent
	ended chan error // an error that ended it; closed if it ended without an error
	stop  func()
}

// watchManager watches manager m's instances, or one of them, from now on.
func (k *liveKit) watchManager(key string) *watcher {
	k.Helper()
	return k.watchInstances(agent.InstanceWatch{Scope: k.scope, Manager: "m", Key: key})
}

// watchInstances starts a watch, checks its first event, and stops it at the end of the case.
func (k *liveKit) watchInstances(w agent.InstanceWatch) *watcher {
	k.Helper()
	ctx, cancel := context.WithCancel(k.ctx)
	e := &watcher{k: k, came: make(chan agent.InstanceEvent), ended: make(chan error, 1)}
	go func() {
		defer close(e.ended)
		for event, err := range k.at.Watch(ctx, w) {
			if err != nil {
				e.ended <- err
				return
			}
			select {
			case e.came <- event:
			case <-ctx.Done():
			}
		}
	}()
	e.stop = sync.OnceFunc(func() {
		cancel()
		if err, more := <-e.ended; more {
			k.Errorf("a watch whose context ended returned %v", err)
		}
	})
	k.Cleanup(e.stop)
	k.equal("the beginning", e.next(), agent.InstanceEvent{Missed: true, Reason: "the watch begins"})
	return e
}

// next returns the next event.
func (e *watcher) next() agent.InstanceEvent {
	e.k.Helper()
	select {
	case event := <-e.came:
		return event
	case err := <-e.ended:
		e.k.Fatalf("the watch ended: %v", err)
	case <-e.k.ctx.Done():
		e.k.Fatal("the watch yields no more events")
	}
	return agent.InstanceEvent{}
}

// expect checks the next events: key, status and reason of each, reported by the
// instance's owner.
func (e *watcher) expect(owner agent.Instance, want ...string) {
	e.k.Helper()
	for _, w := range want {
		event := e.next()
		e.k.equal("what is told", fmt.Sprintf("%s %s %s", event.Key, event.Status, event.Reason), w)
		e.k.equal("who tells it", []any{event.Scope, event.Manager, event.Node, event.Epoch}, []any{owner.Scope, owner.Manager, owner.Node, owner.Epoch})
		if event.Missed || event.At == 0 {
			e.k.Fatalf("got %+v", event)
		}
	}
}

// instanceWatchClaims are the cases of watches. Package instance tests the reasons wanted,
// failed, crashed and moved, which need a store that can block.
var instanceWatchClaims = []instanceClaim{
	{name: "a_watch_of_instances_tells_of_their_lives", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle, Durability: agent.DurabilityIdle})
		e := k.watchManager("")
		a := k.start("a", "")
		e.expect(a, "a waking called", "a awake fresh")
		k.signal(k.ref("a"), "patch", `{"n":1}`) // does not change its status
		k.is("a", agent.InstanceAwake)
		time.Sleep(long)
		e.expect(a, "a draining idle", "a dormant idle")
		k.holds(k.ref("a"), `{"n":1}`)
		k.stop("a")
		e.expect(a, "a waking called", "a awake thawed", "a draining manual", "a dormant manual")
		k.start("a", "")
		k.manage(agent.Manager{Version: 2, IdleTimeout: idle, Durability: agent.DurabilityIdle})
		time.Sleep(short) // by then its node has read the change
		k.holds(k.ref("a"), `{"n":1}`)
		e.expect(a, "a waking called", "a awake thawed", "a waking changed", "a awake thawed")
	}},

	{name: "a_watch_of_instances_is_of_what_it_names", prove: func(k *liveKit) {
		other := &liveKit{kit: k.in(newName("scope")), fleet: k.fleet, at: k.at}
		k.manage(agent.Manager{})
		other.manage(agent.Manager{})
		k.commit(&agent.PutManager{Manager: agent.Manager{Name: "m2", Handler: agent.Handler{Kind: agent.HandlerDocument}}})
		all, one := k.watchManager(""), k.watchManager("b")
		other.start("b", "")
		if _, err := k.at.Start(k.ctx, agent.InstanceRef{Scope: k.scope, Manager: "m2", Key: "b"}, agent.StartInstance{}); err != nil {
			k.Fatal(err)
		}
		a := k.start("a", "")
		all.expect(a, "a waking called", "a awake fresh")
		b := k.start("b", "")
		all.expect(b, "b waking called", "b awake fresh")
		one.expect(b, "b waking called", "b awake fresh")
		one.stop()
		k.stop("b")
		all.expect(b, "b draining manual", "b dormant manual")
	}},

	{name: "a_watch_of_instances_that_cannot_be_is_refused", prove: func(k *liveKit) {
		for key, code := range map[string]agent.Code{"\xff": agent.CodeInvalid, strings.Repeat("k", agent.IDBytesMax+1): agent.CodeTooLarge} {
			n := 0
			for _, err := range k.at.Watch(k.ctx, agent.InstanceWatch{Scope: k.scope, Manager: "m", Key: key}) {
				n++
				k.failure(code, err)
			}
			k.equal("elements", n, 1)
		}
	}},

	{name: "a_watch_of_instances_follows_them_from_a_node_that_is_lost", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		ref := k.remote()
		k.signal(ref, "patch", `{"n":1}`)
		owner := k.is(ref.Key, agent.InstanceAwake)
		e := k.watchManager(ref.Key)
		k.fleet.Faults.Crash(owner.Node)
		k.stillHolds(ref, `{"n":1}`)
		next := k.is(ref.Key, agent.InstanceAwake)
		var told []string // statuses of the instance
		for missed := false; !missed || len(told) < 2; {
			event := e.next()
			switch {
			case event.Missed:
				missed = missed || event.Node == owner.Node
			case event.Node != next.Node || event.Epoch != next.Epoch || event.Epoch <= owner.Epoch:
				k.Fatalf("got %+v of %+v", event, next)
			default:
				told = append(told, fmt.Sprintf("%s %s", event.Status, event.Reason))
			}
		}
		k.equal("what is told", told, []string{"waking called", "awake thawed"})
		k.fleet.Faults.Mend(owner.Node)
	}},
}
