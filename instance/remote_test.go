package instance_test

import (
	"context"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/instance"
)

// The process that has the handler migrates and restores a state. A state that
// does not restore there does not wake.
func TestAStateIsMigratedAndRestoredWhereItsHandlerIs(t *testing.T) {
	var migrate, restore error
	f := &funcs{handle: func(t *instance.Turn) error { return t.Reply(t.State()) }}
	f.restore = func(agent.JSON) error { return restore }
	f.checkpoint = func() (agent.JSON, error) { return agent.JSON(`{"n":2}`), nil }
	simRemote(t, func(o *instance.Options) {
		o.Handlers = map[string]instance.GoHandler{"f": {
			Version: 2, New: func(agent.InstanceRef) instance.Handler { return keeper{plain{f}} },
			Migrate: func(from uint64, state agent.JSON) (agent.JSON, error) {
				if from != 1 {
					t.Errorf("it migrates from %d", from)
				}
				if migrate != nil {
					return nil, migrate
				}
				return agent.MergePatch(state, agent.JSON(`{"migrated":true}`))
			},
		}}
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m", Version: 1})
		k.start("a", `{"n":1}`)
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Version: 2})
		for _, c := range []struct {
			migrate, restore error
			reason           string
		}{{migrate: errOops, reason: "migrate"}, {restore: errOops, reason: "restore"}} {
			migrate, restore = c.migrate, c.restore
			_, err := k.host.Start(k.Context(), ref("a"), agent.StartInstance{})
			if e := k.refusal(err, agent.CodeThawFailed); e.Reason != c.reason {
				k.Errorf("%+v", e)
			}
			k.is("a", agent.InstanceDormant)
		}
		migrate, restore = nil, nil
		reply := k.send(k.host, "a", signal("x", ""))
		if want := `{"n":1,"migrated":true}`; string(reply.Data) != want || reply.Node != "n1" {
			k.Errorf("%s on %s, want %s", reply.Data, reply.Node, want)
		}
		if c := k.checkpoint("a"); string(c.State) != `{"n":2}` || c.Version != 2 {
			k.Errorf("it stored %+v", c)
		}
	})
}

// A remote turn is refused if the handler's program stores the manager's
// instances in a store of its own.
func TestARemoteTurnOfAnInstanceStoredElsewhereIsRefused(t *testing.T) {
	f := &funcs{handle: func(*instance.Turn) error { return nil }}
	simRemote(t, func(o *instance.Options) {
		f.register(o)
		o.Storage = func(_, manager string) agent.Service {
			if manager == "m" {
				return o.Service
			}
			return nil
		}
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		if e := k.refusal(err, agent.CodeHandlerFailed); e.Reason != "stored_elsewhere" {
			k.Errorf("%+v", e)
		}
		if k.checkpoint("a") != nil {
			k.Error("it was stored")
		}
	})
}

// A process that ends during a remote turn applies nothing, and the next
// process handles the signal once.
func TestARemoteTurnWhoseProcessEndsIsNotApplied(t *testing.T) {
	f := &funcs{}
	other := &lateHost{}
	sim(t, func(o *instance.Options) { o.Remote = other }, func(k *kit) {
		second, _, stop := k.open("n2", f.register)
		other.RemoteHandlers = second
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		began := make(chan struct{})
		f.patient = func(ctx context.Context, t *instance.Turn) error {
			t.Append(agent.Draft{Kind: "half"})
			close(began)
			<-ctx.Done()
			return ctx.Err()
		}
		go func() {
			<-began
			time.Sleep(time.Second)
			stop()
		}()
		sent := requested(signal("x", ""), "c", 1)
		_, err := k.host.Signal(k.Context(), ref("a"), sent)
		k.code(err, agent.CodeUnavailable)
		_, err = k.host.Signal(k.Context(), ref("a"), sent)
		k.code(err, agent.CodeUnavailable)
		if s := k.stats(); s.Crashed != 0 || len(k.entries("a")) != 0 {
			k.Errorf("%+v, %v", s, k.entries("a"))
		}

		f.set(func() {
			f.patient, f.handle = nil, func(t *instance.Turn) error { t.Append(agent.Draft{Kind: "whole"}); return nil }
		})
		other.RemoteHandlers, _, _ = k.open("n3", f.register)
		for range 2 {
			k.send(k.host, "a", sent)
		}
		if kinds := k.entries("a"); len(kinds) != 1 || kinds[0] != "whole" {
			k.Errorf("%v", kinds)
		}
	})
}

// A process refuses a remote turn for a handler that it does not have.
func TestARemoteTurnNeedsAProcessWithItsHandler(t *testing.T) {
	f := &funcs{handle: func(*instance.Turn) error { return nil }}
	sim(t, f.register, func(k *kit) {
		for _, e := range []layout.RemoteTurn{
			{InstanceRef: ref("a"), Handler: "other", State: agent.JSON(`{}`)},
			{InstanceRef: ref("a"), Handler: "", State: agent.JSON(`{}`)},
		} {
			if done, err := k.host.Handle(k.Context(), e); err == nil {
				k.Errorf("%+v: %+v", e, done)
			}
		}
		e := layout.RemoteTurn{InstanceRef: ref("a"), Handler: "f", Version: 9, From: 9, State: agent.JSON(`{"n":1}`), Signal: &agent.Signal{Type: "x"}}
		if done, err := k.host.Handle(k.Context(), e); err != nil || string(done.State) != `{"n":1}` {
			k.Errorf("%+v, %v", done, err)
		}
		if s := k.stats(); s.Awake != 0 {
			k.Errorf("it keeps %+v", s)
		}
		k.stop()
		_, err := k.host.Handle(k.Context(), e)
		k.code(err, agent.CodeUnavailable)
	})
}
