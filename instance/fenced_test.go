package instance_test

import (
	"context"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/instance"
)

// An op of a turn on a claim that another holds is refused as fenced. That says nothing of the
// partition: the instance stays, with what is not stored yet.
func TestAClaimThatATurnDoesNotHoldIsNoMove(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		f.handle = func(t *instance.Turn) error {
			if t.Type() == "renew" {
				t.Commit(&agent.RenewClaim{Claim: "c", Holder: "me", Epoch: 1})
				return nil
			}
			return t.Patch(agent.JSON(`{"n":1}`))
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("patch", ""))
		_, err := k.host.Signal(k.Context(), ref("a"), requested(signal("renew", ""), "c", 1))
		k.code(err, agent.CodeFenced)
		if i := k.is("a", agent.InstanceAwake); i.Rev != 0 {
			k.Errorf("%+v", i)
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if c := k.checkpoint("a"); c == nil || string(c.State) != `{"n":1}` {
			k.Errorf("the checkpoint is %+v", c)
		}
	})
}

// overtaken starts instance a with state {"x":2}. Its next turn makes a change, and another client writes
// {"x":3} to the checkpoint within the first run of the handler. It returns how often the handler has run.
func overtaken(k *kit, f *funcs, change func(*instance.Turn) error) *int {
	k.put(agent.Manager{Name: "m", Handler: goHandler})
	k.start("a", `{"x":1}`)
	f.handle = func(t *instance.Turn) error { return t.SetState(agent.JSON(`{"x":2}`)) }
	k.send(k.host, "a", signal("x", ""))
	asked := 0
	f.handle = func(t *instance.Turn) error {
		if asked++; asked == 1 {
			k.write(&agent.PatchCheckpoint{Key: ref("a").Checkpoint(), Patch: agent.JSON(`{"x":3}`)})
		}
		return change(t)
	}
	return &asked
}

// A turn that writes elsewhere alone is about the stored state too: a client that wrote to the checkpoint makes the
// handler run again.
func TestATurnOfOpsAloneIsFencedByTheRevision(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		asked := overtaken(k, f, func(t *instance.Turn) error {
			t.Commit(&agent.PutValue{Key: "seen", Bytes: []byte(t.State())})
			return nil
		})
		s := requested(signal("x", ""), "c", 1)
		reply := k.send(k.host, "a", s)
		answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "seen"}}})
		if err != nil {
			k.Fatal(err)
		}
		if v, ok := answers.Answers[0].Found.(*agent.Value); !ok || string(v.Bytes) != `{"x":3}` || *asked != 2 {
			k.Errorf("in %d runs the handler has seen %+v", *asked, answers.Answers[0])
		}
		if again := k.send(k.host, "a", s); reply.Revision != 3 || again.Revision != 3 || *asked != 2 {
			k.Errorf("the turn wrote no state, and its reply is of revision %d, again %d", reply.Revision, again.Revision)
		}
	})
}

// A turn is fenced by what its instance was read from or has written: an erasure after that refuses it, also one in the
// same log entry. The answer to a repeated signal is looked for no earlier.
func TestATurnNamesTheIndexOfItsState(t *testing.T) {
	sim(t, nil, func(k *kit) {
		index := func() uint64 {
			answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetScope{}}})
			if err != nil {
				k.Fatal(err)
			}
			return answers.Index
		}
		var lookedFor uint64
		hook(k.store, &k.store.read, func(r agent.Reads) error {
			if _, ok := r.Reads[0].(*agent.GetAnswer); ok {
				lookedFor = r.MinIndex
			}
			return nil
		})
		k.send(k.host, "a", signal("patch", `{"n":0}`))
		for n := range uint64(3) {
			before := index()
			k.send(k.host, "a", requested(signal("patch", `{"n":1}`), "c", 2*n+1))
			written := index()
			k.write(&agent.PutValue{Key: "k", Bytes: []byte{byte(n)}})
			k.send(k.host, "a", requested(signal("patch", `{"n":2}`), "c", 2*n+2))
			c := k.store.commits[k.store.count()-1]
			if f := c.Fence; f.Agent != ref("a").Checkpoint() || f.Since+1 <= before || f.Since+1 > written || lookedFor != f.Since+1 {
				k.Errorf("fenced by %+v, and the answer looked for at %d; the state was written after %d and up to %d", f, lookedFor, before, written)
			}
		}
	})
}

// A process that was started again owns nothing of what the process before it owned.
func TestAnEarlierProcessesPartitionsAreNotOwned(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.stop()
		later, _, _ := k.open("n1", func(o *instance.Options) { o.Incarnation = "2" })
		_, err := later.Signal(k.Context(), ref("a"), signal("get", `{}`))
		k.code(err, agent.CodeNotOwner)
	})
}

// endlessDrains is an Ownership whose drains do not end.
type endlessDrains struct{ instance.Ownership }

func (endlessDrains) ReleasePartitions(ctx context.Context, _ []layout.Partition) error {
	<-ctx.Done()
	return ctx.Err()
}

// A partition may begin to drain while a call reads its manager. No instance wakes there any more: the drain may have
// seen all that are awake.
func TestACallFindsADrainThatBeganMeanwhile(t *testing.T) {
	sim(t, func(o *instance.Options) { o.Ownership = endlessDrains{o.Ownership} }, func(k *kit) {
		hook(k.store, &k.store.read, func(r agent.Reads) error {
			if _, ok := r.Reads[0].(*agent.GetManager); ok {
				k.world.drain(partition("a"), "n2")
			}
			return nil
		})
		_, err := k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
		if e := k.refusal(err, agent.CodeNotOwner); e.Reason != "draining" {
			k.Errorf("%+v", e)
		}
	})
}

// unheard is an Ownership that tells of no change.
type unheard struct{ instance.Ownership }

func (unheard) PartitionsChanged() <-chan struct{} { return nil }

// A turn that is kept in memory only has no fence: the host looks at the owner after the handler has returned.
func TestAMoveDuringATurnThatIsNotStoredRefusesIt(t *testing.T) {
	f := &funcs{}
	sim(t, func(o *instance.Options) { f.register(o); o.Ownership = unheard{o.Ownership} }, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: agent.DurabilityIdle})
		f.handle = func(t *instance.Turn) error {
			k.world.give(partition("a"), "n2")
			return t.SetState(agent.JSON(`{"n":1}`))
		}
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeNotOwner)
	})
}

// A hibernation while calls wait ends no run: what the handler knows of its run is still true.
func TestARunOutlastsAStopWhileCallsWait(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		hold := make(chan struct{})
		var runs []string
		f.handle = func(t *instance.Turn) error {
			if runs = append(runs, t.Run()); len(runs) == 1 {
				<-hold
			}
			return nil
		}
		done := make(chan error, 3)
		signalled := func() error { _, err := k.host.Signal(k.Context(), ref("a"), signal("x", "")); return err }
		for _, call := range []func() error{signalled, func() error { return k.host.Stop(k.Context(), ref("a")) }, signalled} {
			go func() { done <- call() }()
			time.Sleep(time.Second) // they queue in this order
		}
		close(hold)
		for range 3 {
			if err := <-done; err != nil {
				k.Error(err)
			}
		}
		if s := k.stats(); len(runs) != 2 || runs[0] != runs[1] || s.Hibernated != 1 {
			k.Errorf("runs %v, and %d hibernations", runs, s.Hibernated)
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if k.send(k.host, "a", signal("x", "")); runs[2] == runs[1] {
			k.Error("a run outlasts a hibernation after which nothing waited")
		}
	})
}
