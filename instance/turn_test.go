package instance_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

func TestARepeatedSignalGetsItsFirstAnswer(t *testing.T) {
	sim(t, nil, func(k *kit) {
		s := requested(signal("turn", `{"entries":{"kind":"message"},"patch":{"n":1}}`), "c", 1)
		first := k.send(k.host, "a", s)
		k.send(k.host, "a", signal("append", `{"entries":[{"seq":9},{}]}`))
		if again := k.send(k.host, "a", s); again.Rev != first.Rev || again.Revision != first.Revision || string(again.Data) != string(first.Data) {
			k.Errorf("%+v, then %+v", first, again)
		}
		if string(first.Data) != `{"rev":1,"revision":1}` || !first.Durable || first.Node != "n1" {
			k.Errorf("%+v %s", first, first.Data)
		}
		if got := k.entries("a"); len(got) != 3 {
			k.Errorf("%v", got)
		}
		_, err := k.host.Signal(k.Context(), ref("a"), requested(signal("patch", `{"n":2}`), "c", 1))
		k.code(err, agent.CodeIdempotencyMismatch)
		// The same signal to another instance does not get the reply of "a".
		_, err = k.host.Signal(k.Context(), ref("b"), s)
		k.code(err, agent.CodeIdempotencyMismatch)
		if got := k.entries("b"); len(got) != 0 {
			k.Errorf("refused, but %v", got)
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if again := k.send(k.host, "a", s); again.Rev != 1 { // also after it has hibernated
			k.Errorf("%+v", again)
		}
		// A request that was not a signal.
		_, err = k.store.Commit(k.Context(), agent.Commit{
			Request: agent.Request{Client: "c", Seq: 2}, Ops: []agent.Op{&agent.PutValue{Key: "v"}},
		})
		if err != nil {
			k.Fatal(err)
		}
		_, err = k.host.Signal(k.Context(), ref("a"), requested(s, "c", 2))
		k.code(err, agent.CodeIdempotencyMismatch)
	})
}

// A commit whose answer was lost is resolved before the instance does anything
// else, and applies once.
func TestATurnWithAnUnknownOutcomeIsResolved(t *testing.T) {
	sim(t, nil, func(k *kit) {
		lost := 3
		hook(k.store, &k.store.after, func(agent.Commit) error {
			if lost--; lost >= 0 {
				return agent.Errorf(agent.CodeUnknown, "the answer was lost")
			}
			return nil
		})
		second := make(chan agent.Reply, 1)
		go func() {
			time.Sleep(10 * time.Millisecond) // while the first is being resolved
			second <- k.send(k.host, "a", signal("append", `{"entries":{"kind":"second"}}`))
		}()
		if reply := k.send(k.host, "a", signal("append", `{"entries":{"kind":"first"}}`)); reply.Rev != 1 {
			k.Errorf("%+v", reply)
		}
		if reply := <-second; reply.Rev != 2 {
			k.Errorf("%+v", reply)
		}
		if got := k.entries("a"); !slices.Equal(got, []string{"first", "second"}) {
			k.Errorf("%v", got)
		}
	})
}

func TestACallerThatLeavesGetsTheKnownOutcome(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.start("a", "")
		release := make(chan struct{})
		hook(k.store, &k.store.before, func(agent.Commit) error { <-release; return nil })
		ctx, cancel := context.WithCancel(k.Context())
		begun, waiting := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := k.host.Signal(ctx, ref("a"), signal("append", `{"entries":{"kind":"begun"}}`))
			begun <- err
		}()
		synctest.Wait()
		go func() {
			_, err := k.host.Signal(ctx, ref("a"), signal("append", `{"entries":{"kind":"waiting"}}`))
			waiting <- err
		}()
		synctest.Wait()
		cancel()
		k.code(<-begun, agent.CodeUnknown)
		k.code(<-waiting, agent.CodeUnavailable)
		hook(k.store, &k.store.before, nil)
		close(release)
		k.send(k.host, "a", signal("get", `{}`))
		if got := k.entries("a"); !slices.Equal(got, []string{"begun"}) {
			k.Errorf("%v", got)
		}
	})
}

func TestAFullMailboxRefuses(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", MailboxMax: 2})
		k.start("a", "")
		release := make(chan struct{})
		hook(k.store, &k.store.before, func(agent.Commit) error { <-release; return nil })
		for n := range 3 { // one is being handled, two wait
			s := signal("append", fmt.Sprintf(`{"entries":{"kind":"n%d"}}`, n))
			s.Cast = true
			if reply := k.send(k.host, "a", s); reply.Durable {
				k.Errorf("%+v", reply)
			}
			synctest.Wait()
		}
		_, err := k.host.Signal(k.Context(), ref("a"), signal("append", `{"entries":{}}`))
		if e := k.refusal(err, agent.CodeOverloaded); e.Limit != "mailbox_max=2" || e.RetryAfterMS == 0 {
			k.Errorf("%+v", e)
		}
		if i, err := k.host.Lookup(k.Context(), ref("a")); err != nil || i.Mailbox != 2 || i.IdleAt != 0 {
			k.Errorf("%+v, %v", i, err)
		}
		close(release)
		synctest.Wait()
		time.Sleep(time.Second)
		if got := k.entries("a"); !slices.Equal(got, []string{"n0", "n1", "n2"}) {
			k.Errorf("%v", got)
		}
	})
}

// After another client's write to the checkpoint or thread, or its deletion,
// the turn is refused and the handler runs again with the new state.
func TestWritesOfOtherClientsAreDetected(t *testing.T) {
	sim(t, nil, func(k *kit) {
		key := ref("a").Checkpoint()
		k.send(k.host, "a", signal("turn", `{"entries":{},"patch":{"n":1}}`))
		if _, err := k.node.Append(k.Context(), agent.AppendThread{Thread: key, Entries: []agent.Draft{{Kind: "theirs"}}}); err != nil {
			k.Fatal(err)
		}
		s := requested(signal("append", `{"entries":{"kind":"ours"}}`), "c", 1)
		reply := k.send(k.host, "a", s)
		if got := k.entries("a"); reply.Rev != 3 || !slices.Equal(got, []string{"note", "theirs", "ours"}) {
			k.Errorf("%+v %v", reply, got)
		}
		if again := k.send(k.host, "a", s); again.Rev != 3 || len(k.entries("a")) != 3 {
			k.Errorf("sent again: %+v", again)
		}
		if _, err := k.node.PatchCheckpoint(k.Context(), agent.PatchCheckpoint{Key: key, Patch: agent.JSON(`{"theirs":true}`)}); err != nil {
			k.Fatal(err)
		}
		k.send(k.host, "a", signal("patch", `{"n":2}`))
		if got := k.state(k.host, "a"); got != `{"n":2,"theirs":true}` {
			k.Errorf("state %s", got)
		}
		if _, err := k.node.DeleteCheckpoint(k.Context(), agent.DeleteCheckpoint{Key: key}); err != nil {
			k.Fatal(err)
		}
		if reply := k.send(k.host, "a", signal("patch", `{"n":3}`)); reply.Revision != 1 || reply.Rev != 3 {
			k.Errorf("%+v", reply)
		}
	})
}

// Signals that have to be decided again are accepted at any distance from each other, as those of a
// recurring timer and of a client that has sent many.
func TestLaterSignalsAreDecidedAgain(t *testing.T) {
	sim(t, nil, func(k *kit) {
		key := ref("a").Checkpoint()
		k.send(k.host, "a", signal("patch", `{"n":0}`))
		for n, seq := range []uint64{1, 5000, 5001, 5001 + agent.RequestWindowMax, 1 << 40} {
			theirs := agent.PatchCheckpoint{Key: key, Patch: agent.JSON(fmt.Sprintf(`{"theirs":%d}`, n))}
			if _, err := k.node.PatchCheckpoint(k.Context(), theirs); err != nil {
				k.Fatal(err)
			}
			s := signal("patch", fmt.Sprintf(`{"n":%d}`, n+1))
			s.Request = agent.Request{Client: "c", Seq: seq, Low: seq}
			k.send(k.host, "a", s)
			if got, want := k.state(k.host, "a"), fmt.Sprintf(`{"n":%d,"theirs":%d}`, n+1, n); got != want {
				k.Errorf("request %d: state %s, want %s", seq, got, want)
			}
		}
	})
}

// The error of a signal names the wrong member and what it should be, in words of JSON.
func TestTheErrorOfASignalIsAboutItsJSON(t *testing.T) {
	sim(t, nil, func(k *kit) {
		for data, says := range map[string]string{
			`{"entries":"none"}`:      `entries is a string, and should be an array`,
			`{"entries":[{"x":1}]}`:   `there is no member entries[0].x`,
			`{"entries":[{},null]}`:   `an entry is null, and should be an object`,
			`{"entries":[{"at":""}]}`: `entries[0].at is a string, and should be a whole number of 64 bits`,
		} {
			_, err := k.host.Signal(k.Context(), ref("a"), signal("append", data))
			if agent.CodeOf(err) != agent.CodeInvalid || !strings.HasSuffix(err.Error(), "the signal is invalid: "+says) {
				k.Errorf("%s: %v", data, err)
			}
		}
	})
}

func TestRefusalsOfTheStoreReachTheCaller(t *testing.T) {
	sim(t, nil, func(k *kit) {
		for field, s := range map[string]agent.Signal{
			"type":             signal("dance", `{}`),
			"data/x":           signal("get", `{"x":1}`),
			"data/entries":     signal("append", `{"entries":7}`),
			"entries":          signal("append", `{}`),
			"timers":           signal("turn", `{"timers":[{}]}`),
			"timers/t/x":       signal("turn", `{"timers":{"t":{"x":1}}}`),
			"cron":             signal("turn", `{"timers":{"t":{"cron":"61 * * * *"}}}`),
			"time_zone":        signal("turn", `{"timers":{"t":{"cron":"@daily","time_zone":"Mars/Olympus"}}}`),
			"patch":            signal("turn", `{"patch":7}`),
			"entries[0].kind":  signal("append", `{"entries":{"kind":"`+repeat("x", 200)+`"}}`),
			"data/entries/0/x": signal("append", `{"entries":[{"x":1}]}`),
			"data/entries/1":   signal("append", `{"entries":[{},null]}`),
		} {
			_, err := k.host.Signal(k.Context(), ref("a"), s)
			if code := agent.CodeOf(err); code != agent.CodeInvalid && code != agent.CodeTooLarge {
				k.Errorf("%s: %v", field, err)
			} else if e := err.(*agent.Error); e.Field != field { //nolint:errorlint,forcetypeassert // it has a code
				k.Errorf("field %q, want %q: %v", e.Field, field, err)
			}
		}
		if got := k.entries("a"); got != nil {
			k.Errorf("%v", got)
		}
		_, err := k.host.Signal(k.Context(), agent.InstanceRef{Manager: "nobody", Key: "a"}, signal("get", `{}`))
		k.code(err, agent.CodeNotFound)
		_, err = k.host.Signal(k.Context(), agent.InstanceRef{Manager: "m", Key: ".."}, signal("get", `{}`))
		k.code(err, agent.CodeInvalid)
	})
}

// A signal's entries and timers use the documents of the HTTP API, which accept
// an empty time zone.
func TestASignalSetsATimerWithoutATimeZone(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("turn", `{"timers":{"t":{"cron":"@daily","time_zone":""}}}`))
	})
}

func TestTheDocument(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("append", `{"entries":[{"id":"e1","kind":"message","payload":{"n":9007199254740993}},{}]}`))
		reply := k.send(k.host, "a", signal("patch", `{"a":{"b":1},"c":null}`))
		if string(reply.Data) != `{"rev":2,"revision":2}` {
			k.Errorf("%s", reply.Data)
		}
		k.send(k.host, "a", agent.Signal{Type: agent.SignalTimer, Data: agent.JSON(`{"due":1}`)})
		if reply := k.send(k.host, "a", signal("get", ``)); string(reply.Data) != `{"rev":3,"revision":3,"state":{"a":{"b":1}}}` {
			k.Errorf("%s", reply.Data)
		}
		if got := k.entries("a"); !slices.Equal(got, []string{"message", "note", "signal_in"}) {
			k.Errorf("%v", got)
		}
		commits := k.store.count()
		k.send(k.host, "a", signal("patch", `{}`)) // changes nothing, writes nothing
		k.send(k.host, "a", signal("turn", `{}`))
		if k.store.count() != commits {
			k.Error("a turn that changes nothing wrote something")
		}
	})
}

func TestADuplicateEntryIsRefused(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("append", `{"entries":{"id":"e1"}}`))
		_, err := k.host.Signal(k.Context(), ref("a"), signal("turn", `{"entries":{"id":"e1"},"patch":{"n":1}}`))
		k.code(err, agent.CodeDuplicateEntry)
		if reply := k.send(k.host, "a", signal("append", `{"entries":{"id":"e2"}}`)); reply.Rev != 2 || reply.Revision != 2 {
			k.Errorf("%+v", reply)
		}
	})
}

func TestUnderIdleDurabilityAHibernationStoresAll(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		s := requested(signal("turn", `{"entries":[{"kind":"one"}],"patch":{"n":1}}`), "c", 1)
		first := k.send(k.host, "a", s)
		if again := k.send(k.host, "a", s); first.Durable || first.Rev != 1 || again.Rev != 1 {
			k.Errorf("%+v, %+v", first, again)
		}
		_, err := k.host.Signal(k.Context(), ref("a"), requested(signal("patch", `{}`), "c", 1))
		k.code(err, agent.CodeIdempotencyMismatch)
		if reply := k.send(k.host, "a", signal("append", `{"entries":{"kind":"two"}}`)); reply.Rev != 2 || reply.Revision != 0 {
			k.Errorf("%+v", reply)
		}
		if k.store.count() != 0 {
			k.Errorf("%d commits", k.store.count())
		}
		if err := k.host.Hibernate(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if got := k.entries("a"); !slices.Equal(got, []string{"one", "two"}) || k.store.count() != 1 {
			k.Errorf("%v in %d commits", got, k.store.count())
		}
		if err := k.host.Hibernate(k.Context(), ref("a")); err != nil { // it is stored already
			k.Error(err)
		}
		// Changes in memory are limited. Above the limit the instance is saved.
		for range 3 {
			k.send(k.host, "a", signal("append", `{"entries":[`+repeat(`{},`, 299)+`{}]}`))
		}
		if k.store.count() != 3 {
			k.Errorf("%d commits", k.store.count())
		}
		// If the save fails, the turn is refused and nothing is lost.
		hook(k.store, &k.store.before, func(agent.Commit) error { return agent.Errorf(agent.CodeOverloaded, "too much at once") })
		_, err = k.host.Signal(k.Context(), ref("a"), signal("append", `{"entries":[`+repeat(`{},`, 299)+`{}]}`))
		k.code(err, agent.CodeOverloaded)
		hook(k.store, &k.store.before, nil)
		if reply := k.send(k.host, "a", signal("append", `{"entries":{}}`)); reply.Rev != 903 {
			k.Errorf("%+v", reply)
		}
	})
}

func repeat(s string, n int) (out string) {
	for range n {
		out += s
	}
	return out
}

func TestATimersOccurrenceIsAcknowledgedInItsTurn(t *testing.T) {
	for _, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		t.Run(string(durability), func(t *testing.T) {
			sim(t, nil, func(k *kit) {
				k.put(agent.Manager{Name: "m", Durability: durability})
				k.send(k.host, "a", signal("append", `{"entries":{"kind":"before"}}`))
				s := requested(signal("timer", `{}`), "timer", 1)
				s.Ack = &agent.AckTimer{Manager: "m", Key: "a", ID: "t", Generation: 1, Instant: 1}
				reply := k.send(k.host, "a", s)
				if again := k.send(k.host, "a", s); !reply.Durable || reply.Rev != 2 || again.Rev != 2 || len(k.store.acks) != 1 {
					k.Errorf("%+v, %+v, %v", reply, again, k.store.acks)
				}
				if got := k.entries("a"); !slices.Equal(got, []string{"before", "signal_in"}) {
					k.Errorf("%v", got)
				}
				stale := requested(signal("timer", `{}`), "timer", 2)
				stale.Ack = &agent.AckTimer{Manager: "m", Key: "a", ID: "t", Generation: 2, Instant: 1} // not the pending occurrence
				_, err := k.host.Signal(k.Context(), ref("a"), stale)
				k.code(err, agent.CodeConflict)
				if got := k.entries("a"); len(got) != 2 {
					k.Errorf("%v", got)
				}
			})
		})
	}
}

func TestASignalCanBeTracked(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Track: true})
		k.send(k.host, "a", requested(signal("append", `{"entries":{"kind":"x"}}`), "c", 7))
		if got := k.entries("a"); !slices.Equal(got, []string{"instruction_start", "x", "instruction_end"}) {
			k.Errorf("%v", got)
		}
		answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: ref("a").Checkpoint()}}})
		if err != nil {
			k.Fatal(err)
		}
		all := answers.Answers[0].Found.(*agent.Entries).Items //nolint:forcetypeassert // it was read above
		if e := all[0]; string(e.Payload) != `{"type":"append"}` || string(e.Refs) != `{"signal_id":"c/7"}` {
			k.Errorf("%s %s", e.Payload, e.Refs)
		}
		if e := all[2]; string(e.Payload) != `{"type":"append","status":"ok"}` || string(e.Refs) != `{"signal_id":"c/7"}` {
			k.Errorf("%s %s", e.Payload, e.Refs)
		}
	})
}

func TestFieldsThatAreNotPersisted(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", SkipsPersist: []string{"socket"}})
		k.send(k.host, "a", signal("patch", `{"socket":{"fd":3},"n":1}`))
		if got := k.state(k.host, "a"); got != `{"socket":{"fd":3},"n":1}` {
			k.Errorf("awake: %s", got)
		}
		if c := k.checkpoint("a"); string(c.State) != `{"n":1}` {
			k.Errorf("stored: %s", c.State)
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("thawed: %s", got)
		}
	})
}

func TestTheLeastRecentlyUsedInstanceIsEvicted(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", AwakeMax: 3})
		for _, key := range []string{"a", "b", "c"} {
			k.start(key, "")
			time.Sleep(time.Millisecond)
		}
		k.attach("a", "me", time.Hour)
		k.send(k.host, "b", signal("get", `{}`))
		k.start("d", "")
		synctest.Wait()
		k.is("c", agent.InstanceDormant)
		k.is("a", agent.InstanceAwake)
		k.attach("b", "me", time.Hour)
		k.attach("d", "me", time.Hour)
		_, err := k.host.Start(k.Context(), ref("e"), agent.StartInstance{})
		if e := k.refusal(err, agent.CodeOverloaded); e.Limit != "awake_max=3" {
			k.Errorf("%+v", e)
		}
	})
	sim(t, func(o *instance.Options) { o.AwakeMax = 2 }, func(k *kit) {
		for n := range 10 {
			k.send(k.host, keyIn(n), signal("patch", `{"n":1}`))
			time.Sleep(time.Millisecond)
		}
		if s := k.stats(); s.Awake != 2 || s.Hibernated != 8 || !slices.Equal(s.Keys, []string{"key-8", "key-9"}) {
			k.Errorf("%+v", s)
		}
	})
}

// The limit of a scope is for all of its managers together, and for no other scope. An idle instance
// of the scope makes room.
func TestAScopeHasItsInstancesAwake(t *testing.T) {
	most := uint64(2)
	sim(t, func(o *instance.Options) {
		o.ScopeAwakeMax = func(scope string) uint64 {
			if scope == agent.DefaultScope {
				return most
			}
			return 0
		}
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m"})
		for _, key := range []string{"a", "b", "c"} {
			k.start(key, "")
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		k.is("a", agent.InstanceDormant)
		k.attach("b", "me", time.Hour)
		k.attach("c", "me", time.Hour)
		_, err := k.host.Start(k.Context(), ref("d"), agent.StartInstance{})
		if e := k.refusal(err, agent.CodeOverloaded); e.Limit != "scope_awake_max=2" {
			k.Errorf("%+v", e)
		}
		most = 3
		k.start("d", "")
	})
}

func TestAManagerCanStoreItsInstancesElsewhere(t *testing.T) {
	elsewhere := &store{}
	sim(t, func(o *instance.Options) {
		o.Storage = func(_, manager string) agent.Service {
			if manager == "m" {
				return elsewhere
			}
			return nil
		}
	}, func(k *kit) {
		elsewhere.Service = k.node.Client
		k.send(k.host, "a", requested(signal("patch", `{"n":1}`), "c", 1))
		if elsewhere.count() != 1 || k.store.count() != 0 || elsewhere.commits[0].Fence != nil {
			k.Errorf("%d commits there, %d here", elsewhere.count(), k.store.count())
		}
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("state %s", got)
		}
	})
}

func TestAManagersChangeReachesAwakeInstances(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.start("a", "")
		time.Sleep(5 * time.Minute)
		k.is("a", agent.InstanceAwake)
		k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
		k.send(k.host, "b", signal("get", `{}`)) // the host knows the manager by then
		time.Sleep(time.Minute + time.Second)
		k.is("a", agent.InstanceDormant)
	})
}
