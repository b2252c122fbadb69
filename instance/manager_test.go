package instance_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

// TestManagerConformance tests managers and the lifecycle of their instances,
// by conformance id.
func TestManagerConformance(t *testing.T) {
	for id, test := range map[string]func(k *kit){
		"M-1: started twice it is the same instance": func(k *kit) {
			first := k.start("a", `{"n":1}`)
			second := k.start("a", `{"n":2}`)
			if first.Source != agent.SourceFresh || second.Source != agent.SourceAwake || first.Epoch != second.Epoch {
				k.Errorf("%+v, then %+v", first, second)
			}
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
		},
		"M-2: started at once by many it is one instance": concurrentStarts,
		"M-3: a lookup never starts": func(k *kit) {
			k.is("a", "")
			k.start("a", "")
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			k.is("a", agent.InstanceDormant)
			if s := k.stats(); s.Awake != 0 || s.Wakes != 1 {
				k.Errorf("%+v", s)
			}
		},
		"M-4: a fresh one begins with the initial state, a thawed one does not": func(k *kit) {
			k.start("a", `{"n":1}`)
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			if i := k.start("a", `{"n":2}`); i.Source != agent.SourceThawed {
				k.Errorf("%+v", i)
			}
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
		},
		"M-5: stopped and started again it is what it was": func(k *kit) {
			k.send(k.host, "a", signal("turn", `{"entries":{"kind":"message"},"patch":{"n":1}}`))
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			if i := k.start("a", ""); i.Source != agent.SourceThawed || i.Rev != 1 || i.Revision != 1 {
				k.Errorf("%+v", i)
			}
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
		},
		"M-6: stopping what is not awake is not_found": func(k *kit) {
			k.code(k.host.Stop(k.Context(), ref("a")), agent.CodeNotFound)
			k.code(k.host.Hibernate(k.Context(), ref("a")), agent.CodeNotFound)
			k.code(k.host.Touch(k.Context(), ref("a"), ""), agent.CodeNotFound)
		},
		"M-7: without a storage the state is gone after a stop": func(k *kit) {
			k.put(agent.Manager{Name: "m", Storage: agent.KeepNone})
			k.start("a", `{"n":1}`)
			if reply := k.send(k.host, "a", signal("turn", `{"entries":{},"patch":{"n":2}}`)); reply.Durable || reply.Rev != 1 {
				k.Errorf("%+v", reply)
			}
			if got := k.state(k.host, "a"); got != `{"n":2}` {
				k.Errorf("state %s", got)
			}
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			k.is("a", "")
			if got := k.state(k.host, "a"); got != `{}` || k.checkpoint("a") != nil {
				k.Errorf("state %s", got)
			}
		},
		"a change to no storage saves what is not stored": func(k *kit) {
			k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle, IdleTimeout: time.Hour})
			for _, key := range []string{"a", "b"} {
				k.send(k.host, key, signal("turn", `{"entries":{},"patch":{"n":1}}`))
			}
			k.put(agent.Manager{Name: "m", Storage: agent.KeepNone, IdleTimeout: time.Minute})
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("it goes on with %s", got)
			}
			k.send(k.host, "a", signal("patch", `{"n":2}`))
			if got := k.state(k.host, "a"); got != `{"n":2}` {
				k.Errorf("in memory: %s", got)
			}
			time.Sleep(2 * time.Minute) // b had no call in between, so it hibernates
			k.is("b", "")
			for _, key := range []string{"a", "b"} {
				if c := k.checkpoint(key); c == nil || string(c.State) != `{"n":1}` || len(k.entries(key)) != 1 {
					k.Errorf("stored of %s: %+v", key, c)
				}
			}
			k.put(agent.Manager{Name: "m"})
			if got := k.state(k.host, "b"); got != `{"n":1}` {
				k.Errorf("stored again: %s", got)
			}
		},
		"M-8: idle and unattached it hibernates": func(k *kit) {
			k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
			k.start("a", "")
			time.Sleep(59 * time.Second)
			k.is("a", agent.InstanceAwake)
			time.Sleep(2 * time.Second)
			k.is("a", agent.InstanceDormant)
			if s := k.stats(); s.Hibernated != 1 || s.Awake != 0 {
				k.Errorf("%+v", s)
			}
		},
		"M-9: attached it never idles out": func(k *kit) {
			k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
			k.attach("a", "me", time.Hour)
			time.Sleep(5 * time.Minute)
			k.is("a", agent.InstanceAwake)
		},
		"M-10: a holder that vanishes is detached": func(k *kit) {
			k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
			k.attach("a", "me", 30*time.Second)
			time.Sleep(25 * time.Second)
			if err := k.host.Touch(k.Context(), ref("a"), "me"); err != nil {
				k.Fatal(err)
			}
			time.Sleep(29 * time.Second)
			if i := k.is("a", agent.InstanceAwake); i.Attachments != 1 {
				k.Errorf("after a touch: %+v", i)
			}
			time.Sleep(2 * time.Second)
			if i := k.is("a", agent.InstanceAwake); i.Attachments != 0 {
				k.Errorf("after its ttl: %+v", i)
			}
			k.code(k.host.Touch(k.Context(), ref("a"), "me"), agent.CodeNotFound)
			time.Sleep(time.Minute)
			k.is("a", agent.InstanceDormant)
		},
		"M-11: of two holders both must go": func(k *kit) {
			k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
			k.attach("a", "me", time.Hour)
			k.attach("a", "you", time.Hour)
			k.detach("a", "me")
			time.Sleep(3 * time.Minute)
			k.is("a", agent.InstanceAwake)
			k.detach("a", "you")
			time.Sleep(61 * time.Second)
			k.is("a", agent.InstanceDormant)
		},
		"M-12: attached twice under a name and detached once it is detached": func(k *kit) {
			k.attach("a", "me", time.Hour)
			if a := k.attach("a", "me", time.Hour); a.Attachments != 1 {
				k.Errorf("%+v", a)
			}
			k.detach("a", "me")
			k.detach("a", "me") // a missing attachment is no error
			if i := k.is("a", agent.InstanceAwake); i.Attachments != 0 {
				k.Errorf("%+v", i)
			}
		},
		"M-13: signals and touches postpone idling, lookups do not": func(k *kit) {
			k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
			k.start("a", "")
			for range 3 {
				time.Sleep(50 * time.Second)
				k.send(k.host, "a", signal("get", `{}`))
				time.Sleep(50 * time.Second)
				if err := k.host.Touch(k.Context(), ref("a"), ""); err != nil {
					k.Fatal(err)
				}
			}
			time.Sleep(50 * time.Second)
			k.is("a", agent.InstanceAwake)
			time.Sleep(11 * time.Second)
			k.is("a", agent.InstanceDormant)
		},
		"M-14: what does not thaw is thaw_failed and not started": thawFails,
		"M-15: one key in two scopes is two instances": func(k *kit) {
			k.putIn("other", agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}})
			other := ref("a")
			other.Scope = "other"
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			if _, err := k.host.Signal(k.Context(), other, signal("patch", `{"n":2}`)); err != nil {
				k.Fatal(err)
			}
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
			s, err := k.host.Stats(k.Context(), "other", "m")
			if err != nil || s.Nodes[0].Awake != 1 || k.stats().Awake != 1 {
				k.Errorf("%+v, %v", s, err)
			}
			all, err := k.host.Stats(k.Context(), "", "")
			if err != nil || all.Nodes[0].Awake != 2 || all.Nodes[0].Keys != nil {
				k.Errorf("%+v, %v", all, err)
			}
		},
		"M-16: one key under two managers is two instances": func(k *kit) {
			k.put(agent.Manager{Name: "n"})
			other := ref("a")
			other.Manager = "n"
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			i, err := k.host.Start(k.Context(), other, agent.StartInstance{InitialState: agent.JSON(`{"n":2}`)})
			if err != nil || i.Source != agent.SourceFresh {
				k.Fatalf("%+v, %v", i, err)
			}
			if got := k.state(k.host, "a"); got != `{"n":1}` {
				k.Errorf("state %s", got)
			}
		},
		"M-18: a hibernation that fails is seen": func(k *kit) {
			hibernationFails(k, agent.Errorf(agent.CodeUnavailable, "cut off"))
		},
		"M-18: one that is refused for now loses nothing": func(k *kit) {
			hibernationFails(k, agent.Errorf(agent.CodeOverloaded, "too much at once"))
		},
		"M-18: one that is refused for its size loses nothing": func(k *kit) {
			hibernationFails(k, agent.TooLarge("state", "checkpoint_bytes_max", 2, 1))
		},
		"M-19: a stop is ok only once all is durable": func(k *kit) {
			k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
			k.send(k.host, "a", signal("patch", `{"n":1}`))
			release := make(chan struct{})
			hook(k.store, &k.store.before, func(agent.Commit) error { <-release; return nil })
			stopped := make(chan error, 1)
			go func() { stopped <- k.host.Stop(k.Context(), ref("a")) }()
			time.Sleep(5 * time.Second)
			select {
			case err := <-stopped:
				k.Fatalf("stopped before it was stored: %v", err)
			default:
			}
			k.is("a", agent.InstanceDraining)
			close(release)
			if err := <-stopped; err != nil {
				k.Fatal(err)
			}
			if c := k.checkpoint("a"); c == nil || string(c.State) != `{"n":1}` || c.Lifecycle != "manual" {
				k.Errorf("%+v", c)
			}
		},
		"M-21: a call during a hibernation keeps the instance awake": comesLate,
	} {
		t.Run(id, func(t *testing.T) { sim(t, nil, test) })
	}
}

func (k *kit) attach(key, name string, ttl time.Duration) agent.Attached {
	k.Helper()
	a, err := k.host.Attach(k.Context(), ref(key), agent.Attach{Attachment: name, TTL: ttl})
	if err != nil {
		k.Fatalf("attach %s: %v", name, err)
	}
	return a
}

func (k *kit) detach(key, name string) {
	k.Helper()
	if err := k.host.Detach(k.Context(), ref(key), name); err != nil {
		k.Fatalf("detach %s: %v", name, err)
	}
}

func concurrentStarts(k *kit) {
	var started sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 50 {
		started.Go(func() {
			i, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{InitialState: agent.JSON(`{"n":1}`)})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				k.Error(err)
			}
			if i.Source == agent.SourceFresh {
				fresh++
			}
		})
	}
	started.Wait()
	if s := k.stats(); fresh != 1 || s.Awake != 1 || s.Wakes != 1 {
		k.Errorf("%d are fresh; %+v", fresh, s)
	}
	if c := k.checkpoint("a"); c == nil || c.Revision != 1 {
		k.Errorf("%+v", c)
	}
}

func thawFails(k *kit) {
	key := ref("a").Checkpoint()
	put := func(c agent.PutCheckpoint) {
		k.Helper()
		c.Key = key
		if _, err := k.node.PutCheckpoint(k.Context(), c); err != nil {
			k.Fatal(err)
		}
	}
	refused := func(reason string) {
		k.Helper()
		_, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
		if e := k.refusal(err, agent.CodeThawFailed); e.Reason != reason {
			k.Errorf("reason %q, want %q: %v", e.Reason, reason, e)
		}
		_, err = k.host.Signal(k.Context(), ref("a"), signal("get", `{}`))
		k.code(err, agent.CodeThawFailed)
		if s := k.stats(); s.Awake+s.Waking != 0 {
			k.Errorf("started nonetheless: %+v", s)
		}
	}
	put(agent.PutCheckpoint{Version: 2})
	refused("version")
	if _, err := k.node.Append(k.Context(), agent.AppendThread{Thread: "other", Entries: []agent.Draft{{}}}); err != nil {
		k.Fatal(err)
	}
	put(agent.PutCheckpoint{Thread: &agent.Pointer{Thread: "other", Rev: 1}})
	refused("thread_mismatch")
	if _, err := k.node.Append(k.Context(), agent.AppendThread{Thread: key, Entries: []agent.Draft{{}}}); err != nil {
		k.Fatal(err)
	}
	put(agent.PutCheckpoint{Thread: &agent.Pointer{Thread: key, Rev: 1}})
	if _, err := k.node.DeleteThread(k.Context(), agent.DeleteThread{Thread: key}); err != nil {
		k.Fatal(err)
	}
	refused("missing_thread")
	put(agent.PutCheckpoint{State: agent.JSON(`{"n":1}`)})
	if got := k.state(k.host, "a"); got != `{"n":1}` {
		k.Errorf("state %s", got)
	}
}

func hibernationFails(k *kit, why *agent.Error) {
	k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle, IdleTimeout: time.Minute})
	k.send(k.host, "a", signal("patch", `{"n":1}`))
	hook(k.store, &k.store.before, func(agent.Commit) error { return why })
	k.code(k.host.Hibernate(k.Context(), ref("a")), why.Code)
	time.Sleep(61500 * time.Millisecond) // the first retry has failed too
	k.is("a", agent.InstanceAwake)
	if s := k.stats(); s.Failed < 2 || s.Hibernated != 0 {
		k.Errorf("%+v", s)
	}
	hook(k.store, &k.store.before, nil)
	time.Sleep(2 * time.Second)
	k.is("a", agent.InstanceDormant)
	if got := k.state(k.host, "a"); got != `{"n":1}` {
		k.Errorf("state %s", got)
	}
}

func comesLate(k *kit) {
	k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle, IdleTimeout: time.Minute})
	for name, come := range map[string]func(key string) error{
		"start": func(key string) error {
			_, err := k.host.Start(k.Context(), ref(key), agent.StartInstance{})
			return err
		},
		"attach": func(key string) error { _, err := k.host.Attach(k.Context(), ref(key), agent.Attach{}); return err },
		"signal": func(key string) error {
			_, err := k.host.Signal(k.Context(), ref(key), signal("get", "{}"))
			return err
		},
	} {
		k.send(k.host, name, signal("patch", `{"n":1}`))
		release := make(chan struct{})
		hook(k.store, &k.store.before, func(agent.Commit) error { <-release; return nil })
		time.Sleep(61 * time.Second) // it is being saved
		k.is(name, agent.InstanceDraining)
		come := come
		came := make(chan error, 1)
		go func() { came <- come(name) }()
		synctest.Wait()
		close(release)
		hook(k.store, &k.store.before, nil)
		if err := <-came; err != nil {
			k.Errorf("%s: %v", name, err)
		}
		synctest.Wait()
		if i := k.is(name, agent.InstanceAwake); i.Revision != 1 {
			k.Errorf("%s: %+v", name, i)
		}
	}
}

// M-17 and M-20: a crash loses unsaved turns, and the instance restarts from
// its newest checkpoint.
func TestACrashedInstanceRestartsFromItsNewestCheckpoint(t *testing.T) {
	for _, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		t.Run("M-17, M-20: "+string(durability), func(t *testing.T) {
			withHandler(t, func(k *kit, f *funcs) {
				k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: durability})
				k.start("a", `{"n":0}`)
				f.handle = func(t *instance.Turn) error { return t.SetState(agent.JSON(`{"n":1}`)) }
				k.send(k.host, "a", signal("x", ""))
				if err := k.host.Stop(k.Context(), ref("a")); err != nil {
					k.Fatal(err)
				}
				k.start("a", "") // thawed at revision 1
				f.handle = func(t *instance.Turn) error { return t.SetState(agent.JSON(`{"n":2}`)) }
				k.send(k.host, "a", signal("x", ""))
				f.handle = func(*instance.Turn) error { panic("ouch") }
				_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
				if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "panic" {
					k.Errorf("%+v", e)
				}
				want := `{"n":2}`
				if durability == agent.DurabilityIdle {
					want = `{"n":1}`
				}
				var got string
				f.handle = func(t *instance.Turn) error { got = string(t.State()); return nil }
				k.send(k.host, "a", signal("x", ""))
				if got != want {
					k.Errorf("after the crash: %s, want %s", got, want)
				}
				if s := k.stats(); s.Crashed != 1 {
					k.Errorf("%+v", s)
				}
			})
		})
	}
}

var errOops = errors.New("oops")

// A lookup of an instance that is waking returns the stored versions.
func TestALookupOfAWakingInstanceReturnsTheStoredVersions(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("append", `{"entries":[{},{}]}`))
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		thaws, goOn := make(chan struct{}), make(chan struct{})
		hook(k.store, &k.store.read, func(r agent.Reads) error {
			if _, ok := r.Reads[0].(*agent.Thaw); ok {
				close(thaws)
				<-goOn
			}
			return nil
		})
		started := make(chan error, 1)
		go func() {
			_, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
			started <- err
		}()
		<-thaws
		if is := k.is("a", agent.InstanceWaking); is.Rev != 2 || is.Revision != 1 {
			k.Errorf("while it wakes it is at rev %d, revision %d", is.Rev, is.Revision)
		}
		close(goOn)
		if err := <-started; err != nil {
			k.Fatal(err)
		}
	})
}

func TestAFailedStartLeavesNoInstance(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", AwakeMax: 1})
		for n := range 500 {
			ref := ref(strconv.Itoa(n))
			if _, err := k.node.PutCheckpoint(k.Context(), agent.PutCheckpoint{Key: ref.Checkpoint(), Version: 2}); err != nil {
				k.Fatal(err)
			}
			_, err := k.host.Start(k.Context(), ref, agent.StartInstance{})
			k.code(err, agent.CodeThawFailed)
			if s := k.stats(); s.Awake+s.Waking != 0 {
				k.Fatalf("start %d: %+v", n, s)
			}
		}
	})
}
