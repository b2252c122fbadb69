package instance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/instance"
)

var goHandler = agent.Handler{Kind: agent.HandlerGo, Name: "f"}

// funcs is a Go handler with functions that a test replaces.
type funcs struct {
	handle     func(t *instance.Turn) error
	patient    func(ctx context.Context, t *instance.Turn) error // replaces handle
	restore    func(state agent.JSON) error
	checkpoint func() (agent.JSON, error)
	made       int

	mu sync.Mutex // guards handle and patient while a call does not return
}

// set changes the functions while a call does not return.
func (f *funcs) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

type plain struct{ *funcs }

func (p plain) Handle(ctx context.Context, t *instance.Turn) error {
	p.mu.Lock()
	patient, handle := p.patient, p.handle
	p.mu.Unlock()
	if patient != nil {
		return patient(ctx, t)
	}
	return handle(t)
}

// keeper is a handler with state of its own.
type keeper struct{ plain }

func (k keeper) Restore(state agent.JSON) error  { return k.restore(state) }
func (k keeper) Checkpoint() (agent.JSON, error) { return k.checkpoint() }

// withHandler runs a test twice: the host has the handler f, or only another
// host has it, which owns no partition. A test that needs restore or checkpoint
// sets it before its first signal.
func withHandler(t *testing.T, test func(k *kit, f *funcs)) {
	t.Helper()
	t.Run("local", func(t *testing.T) {
		f := &funcs{}
		sim(t, f.register, func(k *kit) { test(k, f) })
	})
	t.Run("remote", func(t *testing.T) {
		f := &funcs{}
		simRemote(t, f.register, func(k *kit) { test(k, f) })
	})
}

func (f *funcs) register(o *instance.Options) {
	o.Handlers = map[string]instance.GoHandler{"f": {New: func(agent.InstanceRef) instance.Handler {
		f.set(func() { f.made++ })
		if f.restore != nil {
			return keeper{plain{f}}
		}
		return plain{f}
	}}}
}

// lateHost is a host that is set later.
type lateHost struct{ layout.RemoteHandlers }

// simRemote runs a test whose host lacks the handler that host n2 registers.
func simRemote(t *testing.T, register func(*instance.Options), test func(k *kit)) {
	t.Helper()
	other := &lateHost{}
	sim(t, func(o *instance.Options) { o.Remote = other }, func(k *kit) {
		other.RemoteHandlers, _, _ = k.open("n2", register)
		test(k)
	})
}

func TestAHandlerThatFailsLeavesNothing(t *testing.T) {
	for reason, handle := range map[string]func(t *instance.Turn) error{
		"error":          func(*instance.Turn) error { return errOops },
		"panic":          func(*instance.Turn) error { panic("ouch") },
		"invalid_change": func(t *instance.Turn) error { t.Append(agent.Draft{Payload: agent.JSON(`7`)}); return nil },
		"too_large": func(t *instance.Turn) error {
			t.Append(agent.Draft{Payload: agent.JSON(`{"x":"` + strings.Repeat("x", agent.EntryBytesMax) + `"}`)})
			return nil
		},
	} {
		t.Run(reason, func(t *testing.T) {
			withHandler(t, func(k *kit, f *funcs) {
				k.put(agent.Manager{Name: "m", Handler: goHandler})
				k.start("a", `{"n":1}`)
				f.handle = func(t *instance.Turn) error {
					t.Append(agent.Draft{})
					if err := t.SetState(agent.JSON(`{"n":2}`)); err != nil {
						return err
					}
					return handle(t)
				}
				_, err := k.host.Signal(k.Context(), ref("a"), requested(signal("x", ""), "c", 1))
				if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != reason || agent.OutcomeOf(err) != agent.Refused {
					k.Errorf("%+v", e)
				}
				if c := k.checkpoint("a"); c.Revision != 1 || len(k.entries("a")) != 0 {
					k.Errorf("it left %+v, %v", c, k.entries("a"))
				}
				// A repeated signal runs the handler again, because nothing was
				// applied.
				var before string
				f.handle = func(t *instance.Turn) error {
					before = string(t.State())
					return t.SetState(agent.JSON(`{"n":3}`))
				}
				if reply := k.send(k.host, "a", requested(signal("x", ""), "c", 1)); reply.Revision != 2 || before != `{"n":1}` {
					k.Errorf("%+v after %s", reply, before)
				}
			})
		})
	}
}

func TestAnOwnErrorOfAHandlerKeepsItsCode(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.handle = func(*instance.Turn) error { return agent.Invalid("amount", "too much") }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		if e := k.refusal(err, agent.CodeInvalid); e.Field != "amount" {
			k.Errorf("%+v", e)
		}
		f.handle = func(*instance.Turn) error { return agent.Errorf(agent.CodeUnknown, "who knows") }
		_, err = k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeHandlerFailed)
	})
}

// An error with invalid UTF-8 cannot be sent, and its caller would get unknown.
func TestErrorsOfHandlersAreValidUTF8(t *testing.T) {
	text := strings.Repeat("\xff ä", 4<<10)
	says := func() error { return errors.New(text) }
	for name, test := range map[string]struct {
		code    agent.Code
		handle  func() error
		restore func() error
	}{
		"error":   {code: agent.CodeHandlerFailed, handle: says},
		"panic":   {code: agent.CodeHandlerFailed, handle: func() error { panic(text) }},
		"restore": {code: agent.CodeThawFailed, restore: says},
		"own": {code: agent.CodeInvalid, handle: func() error {
			return &agent.Error{Code: agent.CodeInvalid, Detail: text, Field: text, Limit: text, Reason: text}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withHandler(t, func(k *kit, f *funcs) {
				k.put(agent.Manager{Name: "m", Handler: goHandler})
				f.handle = func(*instance.Turn) error { return test.handle() }
				if test.restore != nil {
					f.restore = func(agent.JSON) error { return test.restore() }
				}
				_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
				k.isText(k.refusal(err, test.code))
			})
		})
	}
	withEndpoint(t, func(k *kit, e *endpoint) {
		e.serve = func(*http.Request, []byte) (int, string, error) { return 0, "", says() }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.isText(k.refusal(err, agent.CodeHandlerFailed))
	})
}

// isText fails the test if an error contains invalid UTF-8.
func (k *kit) isText(e *agent.Error) {
	k.Helper()
	for _, part := range []string{e.Detail, e.Field, e.Limit, e.Reason} {
		if !utf8.ValidString(part) || len(part) > 16<<10 {
			k.Errorf("%d bytes, %.40q", len(part), part)
		}
	}
}

func TestALateHandlerTimesOut(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler, SignalTTL: 5 * time.Second})
		f.patient = func(ctx context.Context, t *instance.Turn) error {
			if err := t.SetState(agent.JSON(`{"late":true}`)); err != nil {
				return err
			}
			<-ctx.Done()
			return nil // hides the timeout
		}
		began := time.Now()
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "timeout" {
			k.Errorf("%+v", e)
		}
		if took := time.Since(began); took > 6*time.Second {
			k.Errorf("it took %v", took)
		}
		f.patient, f.handle = nil, func(t *instance.Turn) error { return t.Reply(t.State()) }
		if reply := k.send(k.host, "a", signal("x", "")); string(reply.Data) != `{}` {
			k.Errorf("%s", reply.Data)
		}
		if s := k.stats(); s.Crashed != 0 {
			k.Errorf("%+v", s)
		}
	})
}

func TestAHandlerThatHangsIsAbandoned(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler, SignalTTL: 5 * time.Second})
		release := make(chan struct{})
		defer close(release)
		f.patient = func(_ context.Context, t *instance.Turn) error {
			<-release
			return t.SetState(agent.JSON(`{"hung":true}`))
		}
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "timeout" {
			k.Errorf("%+v", e)
		}
		f.set(func() { f.patient, f.handle = nil, func(t *instance.Turn) error { return t.Reply(t.State()) } })
		if reply := k.send(k.host, "a", signal("x", "")); string(reply.Data) != `{}` || f.made < 2 {
			k.Errorf("%s from handler %d", reply.Data, f.made)
		}
		if s := k.stats(); s.Crashed != 1 {
			k.Errorf("%+v", s)
		}
	})
}

func TestConsecutiveCrashesIncreaseTheBackoff(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.handle = func(*instance.Turn) error { panic("ouch") }
		var waits []time.Duration
		for range 12 {
			began := time.Now()
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			k.code(err, agent.CodeHandlerFailed)
			waits = append(waits, time.Since(began).Round(100*time.Millisecond))
		}
		if waits[0] != 0 || waits[1] != 100*time.Millisecond || waits[3] != 400*time.Millisecond || waits[11] != 30*time.Second {
			k.Errorf("%v", waits)
		}
		f.handle = func(*instance.Turn) error { return nil }
		k.send(k.host, "a", signal("x", ""))
		f.handle = func(*instance.Turn) error { panic("ouch") }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeHandlerFailed)
		began := time.Now()
		_, err = k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeHandlerFailed)
		if wait := time.Since(began).Round(100 * time.Millisecond); wait != 100*time.Millisecond {
			k.Errorf("after a good turn it waits %v", wait)
		}
	})
}

func TestAttachmentsSurviveACrash(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler, IdleTimeout: time.Minute})
		k.attach("a", "me", 2*time.Minute)
		f.handle = func(*instance.Turn) error { panic("ouch") }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeHandlerFailed)
		time.Sleep(90 * time.Second)
		if err := k.host.Touch(k.Context(), ref("a"), "me"); err != nil {
			k.Error(err)
		}
		time.Sleep(3*time.Minute + 5*time.Second)
		if s := k.stats(); s.Awake+s.Waking+s.Draining != 0 {
			k.Errorf("%+v", s)
		}
	})
}

func TestACrashedInstanceWithoutAttachmentsIsRemoved(t *testing.T) {
	for what, leave := range map[string]func(k *kit){
		"detached": func(k *kit) { k.detach("a", "me") },
		"expired":  func(*kit) { time.Sleep(time.Minute) },
	} {
		t.Run(what, func(t *testing.T) {
			withHandler(t, func(k *kit, f *funcs) {
				k.put(agent.Manager{Name: "m", Handler: goHandler, AwakeMax: 1})
				k.attach("a", "me", time.Minute)
				f.handle = func(*instance.Turn) error { panic("ouch") }
				_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
				k.code(err, agent.CodeHandlerFailed)
				time.Sleep(10 * time.Second) // the host has abandoned it
				if i := k.is("a", agent.InstanceWaking); i.Attachments != 1 {
					k.Errorf("%+v", i)
				}
				leave(k)
				if s := k.stats(); s.Awake+s.Waking+s.Draining != 0 {
					k.Errorf("%+v", s)
				}
				f.handle = func(*instance.Turn) error { return nil }
				k.send(k.host, "b", signal("x", ""))
			})
		})
	}
}

// A Handler with state of its own is replaced whenever that state may be
// outdated.
func TestAHandlerIsRestoredAfterATurnThatWasNotApplied(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		n := "0"
		f.restore = func(state agent.JSON) error { n = strings.Trim(string(state), `{"n:}`); return nil }
		f.checkpoint = func() (agent.JSON, error) { return agent.JSON(`{"n":` + n + `}`), nil }
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		k.start("a", `{"n":1}`)
		f.handle = func(*instance.Turn) error { n += "0"; return nil }
		k.send(k.host, "a", signal("x", ""))
		if c := k.checkpoint("a"); string(c.State) != `{"n":10}` {
			k.Errorf("%s", c.State)
		}
		f.handle = func(*instance.Turn) error { n = "99"; return errOops }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeHandlerFailed)
		f.handle = func(*instance.Turn) error { n += "0"; return nil }
		k.send(k.host, "a", signal("x", ""))
		if c := k.checkpoint("a"); string(c.State) != `{"n":100}` {
			k.Errorf("%s", c.State)
		}
		f.restore = func(agent.JSON) error { return errOops }
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		_, err = k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
		if e := k.refusal(err, agent.CodeThawFailed); e.Reason != "restore" {
			k.Errorf("%+v", e)
		}
		f.restore = func(agent.JSON) error { panic("ouch") }
		_, err = k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
		k.code(err, agent.CodeThawFailed)
	})
}

func TestAnUnregisteredHandlerOrAnotherVersionIsRefused(t *testing.T) {
	var migrate func() (agent.JSON, error) // nil: no error
	sim(t, func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"f": {
			Version: 2,
			New: func(agent.InstanceRef) instance.Handler {
				return plain{&funcs{handle: func(*instance.Turn) error { return nil }}}
			},
			Migrate: func(from uint64, state agent.JSON) (agent.JSON, error) {
				if from != 1 {
					return nil, errOops
				}
				if migrate != nil {
					return migrate()
				}
				return agent.MergePatch(state, agent.JSON(`{"migrated":true}`))
			},
		}}
	}, func(k *kit) {
		refused := func(m agent.Manager, reason string) {
			k.Helper()
			k.put(m)
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != reason {
				k.Errorf("%+v", e)
			}
		}
		k.start("a", `{"n":1}`) // a document of version 1
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		refused(agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "other"}}, "not_registered")
		refused(agent.Manager{Name: "m", Handler: goHandler, Version: 1}, "version")
		k.put(agent.Manager{Name: "m", Handler: goHandler, Version: 2})
		for _, fail := range []func() (agent.JSON, error){
			func() (agent.JSON, error) { return nil, errOops },
			func() (agent.JSON, error) { panic("ouch") },
			func() (agent.JSON, error) { return agent.JSON(`7`), nil },
		} {
			migrate = fail
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			if e := k.refusal(err, agent.CodeThawFailed); e.Reason != "migrate" {
				k.Errorf("%+v", e)
			}
		}
		migrate = nil
		k.send(k.host, "a", signal("x", ""))
		k.put(agent.Manager{Name: "m", Version: 2}) // awake instances thaw again
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("state %s: a turn that wrote nothing migrates nothing", got)
		}
	})
}

func TestAHandlersOpsAreInItsTurnsCommit(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.handle = func(t *instance.Turn) error {
			t.Commit(&agent.PutValue{Key: "v", Bytes: []byte("1"), IfRevision: new(uint64)})
			return nil
		}
		k.send(k.host, "a", requested(signal("x", ""), "c", 1))
		k.send(k.host, "a", requested(signal("x", ""), "c", 1)) // not called again
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		k.code(err, agent.CodeRevisionMismatch) // the handler's own op was refused
		for _, op := range []agent.Op{
			&agent.PutCheckpoint{Key: ref("a").Checkpoint()}, &agent.AppendThread{Thread: ref("a").Checkpoint()}, &agent.DeleteScope{},
		} {
			f.handle = func(t *instance.Turn) error { t.Commit(op); return nil }
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "invalid_change" {
				k.Errorf("%T: %+v", op, e)
			}
		}
	})
}

// A stored state has the version of its manager at the time. Each older state
// is migrated once.
func TestAStateIsMigratedOnce(t *testing.T) {
	var handle func(t *instance.Turn) error
	migrated := map[uint64]int{} // :: from
	sim(t, func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"f": {
			New: func(agent.InstanceRef) instance.Handler {
				return plain{&funcs{handle: func(t *instance.Turn) error { return handle(t) }}}
			},
			Migrate: func(from uint64, state agent.JSON) (agent.JSON, error) {
				migrated[from]++
				return agent.MergePatch(state, fmt.Appendf(nil, `{"migrations":%d}`, len(migrated)))
			},
		}}
	}, func(k *kit) {
		raise := func(version uint64, durability agent.Durability) {
			k.Helper()
			k.put(agent.Manager{Name: "m", Handler: goHandler, Version: version, Durability: durability})
			if _, err := k.host.Lookup(k.Context(), ref("nobody")); agent.CodeOf(err) != agent.CodeNotFound {
				k.Error(err)
			} // the host knows the manager by then
		}
		set := func(t *instance.Turn) error { return t.Patch(t.Data()) }
		stored := func(version uint64, state string) {
			k.Helper()
			if err := k.host.Stop(k.Context(), ref("a")); err != nil {
				k.Fatal(err)
			}
			if c := k.checkpoint("a"); c.Version != version || string(c.State) != state {
				k.Errorf("version %d, %s", c.Version, c.State)
			}
		}
		handle = set
		raise(1, agent.DurabilityIdle)
		k.send(k.host, "a", signal("x", `{"n":1}`))
		raise(2, agent.DurabilityIdle)
		stored(1, `{"n":1}`) // stored by a hibernation
		k.send(k.host, "a", signal("x", `{"n":2}`))
		raise(3, agent.DurabilityIdle)
		k.send(k.host, "a", signal("x", `{"n":3}`)) // before the instance thaws again
		stored(3, `{"n":3,"migrations":2}`)
		raise(3, agent.DurabilityTurn)
		handle = func(t *instance.Turn) error { // another client writes meanwhile
			handle = set
			if _, err := k.node.PatchCheckpoint(k.Context(), agent.PatchCheckpoint{Key: ref("a").Checkpoint(), Patch: agent.JSON(`{"theirs":true}`)}); err != nil {
				return err
			}
			raise(4, agent.DurabilityTurn)
			return set(t)
		}
		k.send(k.host, "a", signal("x", `{"n":4}`))
		stored(4, `{"n":4,"migrations":3,"theirs":true}`)
		k.send(k.host, "a", signal("x", `{"n":5}`))
		stored(4, `{"n":5,"migrations":3,"theirs":true}`)
		if !maps.Equal(migrated, map[uint64]int{1: 1, 2: 1, 3: 1}) {
			k.Errorf("migrated %v", migrated)
		}
	})
}

// A refused turn leaves nothing in the memory of a handler either, also if it is refused because the manager
// stores nothing.
func TestARefusedTurnOfAnUnstoredInstanceLeavesNothing(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		memory := map[string]int{}
		f.restore = func(state agent.JSON) error {
			memory = map[string]int{}
			return json.Unmarshal(state, &memory)
		}
		f.checkpoint = func() (agent.JSON, error) { return json.Marshal(memory) }
		f.handle = func(t *instance.Turn) error {
			memory[t.Type()]++
			if t.Type() == "bad" {
				t.Durable()
			}
			return nil
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Storage: agent.KeepNone})
		_, err := k.host.Signal(k.Context(), ref("a"), signal("bad", ""))
		k.code(err, agent.CodeHandlerFailed)
		f.set(func() {
			f.handle = func(t *instance.Turn) error { return t.Reply(t.State()) }
		})
		k.send(k.host, "a", signal("good", ""))
		if reply := k.send(k.host, "a", signal("good", "")); string(reply.Data) != `{}` {
			k.Errorf("the state is %s", reply.Data)
		}
	})
}

// A call that was abandoned may ask for its run while the next one runs.
func TestAnAbandonedCallAsksForItsRun(t *testing.T) {
	f := &funcs{}
	sim(t, f.register, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: goHandler, SignalTTL: time.Second})
		release := make(chan struct{})
		runs := make(chan string, 1)
		f.patient = func(_ context.Context, t *instance.Turn) error {
			<-release
			runs <- t.Run()
			return nil
		}
		_, err := k.host.Signal(k.Context(), ref("a"), signal("hang", ""))
		k.code(err, agent.CodeHandlerFailed)
		f.set(func() {
			f.patient = func(_ context.Context, t *instance.Turn) error {
				return t.Reply(agent.JSON(`{"run":"` + t.Run() + `"}`))
			}
		})
		time.Sleep(time.Minute) // the delay after a crash
		close(release)
		reply := k.send(k.host, "a", signal("next", ""))
		if old := <-runs; old == "" || len(reply.Data) <= len(`{"run":""}`) {
			k.Errorf("the runs are %q and %s", old, reply.Data)
		}
	})
}
