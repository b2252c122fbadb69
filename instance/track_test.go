package instance_test

import (
	"errors"
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/instance"
)

// trail returns the kinds of an instance's entries, and the results of its
// signals.
func (k *kit) trail(key string) (kinds, ends []string) {
	k.Helper()
	answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: ref(key).Checkpoint()}}})
	if err != nil {
		k.Fatal(err)
	}
	found, ok := answers.Answers[0].Found.(*agent.Entries)
	if !ok {
		return nil, nil
	}
	for _, e := range found.Items {
		kinds = append(kinds, e.Kind)
		if e.Kind == agent.KindInstructionEnd {
			ends = append(ends, string(e.Payload))
		}
	}
	return kinds, ends
}

// A failed signal leaves its end entry in the thread, and may be sent again.
func TestAFailedSignalLeavesItsEnd(t *testing.T) {
	for _, durability := range []agent.Durability{agent.DurabilityTurn, agent.DurabilityIdle} {
		t.Run(string(durability), func(t *testing.T) {
			sim(t, nil, func(k *kit) {
				k.put(agent.Manager{Name: "m", Track: true, Durability: durability})
				bad := requested(signal("append", `{}`), "c", 1)
				_, err := k.host.Signal(k.Context(), ref("a"), bad)
				k.code(err, agent.CodeInvalid)
				k.send(k.host, "a", requested(signal("append", `{"entries":{"kind":"x"}}`), "c", 2))
				if _, err := k.host.Signal(k.Context(), ref("a"), bad); agent.CodeOf(err) != agent.CodeInvalid {
					k.Errorf("sent again: %v", err)
				}
				if err := k.host.Stop(k.Context(), ref("a")); err != nil {
					k.Fatal(err)
				}
				kinds, ends := k.trail("a")
				if want := []string{
					"instruction_start", "instruction_end", "instruction_start", "x", "instruction_end", "instruction_start", "instruction_end",
				}; !slices.Equal(kinds, want) {
					k.Errorf("%v", kinds)
				}
				failed := `{"type":"append","status":"error","code":"invalid"}`
				if want := []string{failed, `{"type":"append","status":"ok"}`, failed}; !slices.Equal(ends, want) {
					k.Errorf("%v", ends)
				}
			})
		})
	}
}

// Without a setting in the manager, signals of a Go handler are tracked once
// the instance has a thread.
func TestSignalsOfAGoHandlerAreTrackedOnceThereIsAThread(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		f.handle = func(t *instance.Turn) error {
			switch t.Type() {
			case "say":
				t.Append(agent.Draft{Kind: "said"})
			case "fail":
				return errors.New("it does not work")
			case "panic":
				panic("it explodes")
			}
			return nil
		}
		k.send(k.host, "a", signal("look", `{}`))
		if kinds, _ := k.trail("a"); kinds != nil {
			k.Errorf("without a thread: %v", kinds)
		}
		k.send(k.host, "a", signal("say", `{}`))
		k.send(k.host, "a", signal("say", `{}`))
		for _, kind := range []string{"fail", "panic"} {
			_, err := k.host.Signal(k.Context(), ref("a"), signal(kind, `{}`))
			k.code(err, agent.CodeHandlerFailed)
		}
		kinds, ends := k.trail("a")
		if want := []string{
			"said", "instruction_start", "said", "instruction_end", "instruction_start", "instruction_end", "instruction_start", "instruction_end",
		}; !slices.Equal(kinds, want) {
			k.Errorf("%v", kinds)
		}
		if want := []string{
			`{"type":"say","status":"ok"}`,
			`{"type":"fail","status":"error","code":"handler_failed","reason":"error"}`,
			`{"type":"panic","status":"error","code":"handler_failed","reason":"panic"}`,
		}; !slices.Equal(ends, want) {
			k.Errorf("%v", ends)
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Untracked: true})
		k.send(k.host, "a", signal("say", `{}`))
		if now, _ := k.trail("a"); len(now) != len(kinds)+1 {
			k.Errorf("untracked: %v", now)
		}
	})
}

// The entries of a failed signal that are refused take nothing with them that turns have changed before.
func TestARefusedTrackLosesNoUnsavedTurn(t *testing.T) {
	sim(t, nil, func(k *kit) {
		m := agent.Manager{Name: "m", Durability: agent.DurabilityIdle, Track: true}
		k.put(m)
		k.send(k.host, "a", signal("turn", `{"patch":{"n":1}}`))
		m.Durability = agent.DurabilityTurn
		k.put(m)
		hook(k.store, &k.store.before, func(agent.Commit) error { return agent.Errorf(agent.CodeOverloaded, "too much at once") })
		_, err := k.host.Signal(k.Context(), ref("a"), signal("nonesuch", `{}`))
		k.code(err, agent.CodeInvalid)
		hook(k.store, &k.store.before, nil)
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("the state is %s", got)
		}
	})
}
