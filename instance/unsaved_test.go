package instance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/instance"
)

// A turn that must be stored is committed with the entries that are not stored yet. If one commit
// cannot hold both, the instance is saved first.
func TestAStoredTurnThatDoesNotFitIntoACommitWithUnsavedEntries(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("append", `{"entries":[`+repeat(`{"kind":"early"},`, 499)+`{"kind":"early"}]}`))
		at := fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())
		turn := requested(signal("turn", `{"entries":[`+repeat(`{"kind":"late"},`, 599)+`{"kind":"late"}],"patch":{"n":1},"timers":{"t":{"at":`+at+`}}}`), "c", 1)
		reply := k.send(k.host, "a", turn)
		if !reply.Durable || reply.Rev != 1100 || reply.Revision != 2 {
			k.Errorf("%+v", reply)
		}
		if again := k.send(k.host, "a", turn); string(again.Data) != string(reply.Data) || again.Rev != reply.Rev {
			k.Errorf("%+v, then %+v", reply, again)
		}
		want := append(slices.Repeat([]string{"early"}, 500), slices.Repeat([]string{"late"}, 600)...)
		if got := k.entries("a"); !slices.Equal(got, want[:len(got)]) || k.store.count() != 2 {
			k.Errorf("%d entries in %d commits", len(got), k.store.count())
		}
	})
}

// The same if the save that comes first is refused: nothing is lost, and the turn may come again.
func TestAStoredTurnWhoseSaveIsRefused(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("append", `{"entries":[`+repeat(`{},`, 499)+`{}]}`))
		at := fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())
		turn := requested(signal("turn", `{"entries":[`+repeat(`{},`, 599)+`{}],"timers":{"t":{"at":`+at+`}}}`), "c", 1)
		hook(k.store, &k.store.before, func(agent.Commit) error { return agent.Errorf(agent.CodeOverloaded, "too much at once") })
		_, err := k.host.Signal(k.Context(), ref("a"), turn)
		k.code(err, agent.CodeOverloaded)
		hook(k.store, &k.store.before, nil)
		if reply := k.send(k.host, "a", turn); reply.Rev != 1100 || !reply.Durable {
			k.Errorf("%+v", reply)
		}
	})
}

// A reply that says that all is stored is true of what was not stored before the manager's
// durability changed from idle to turn.
func TestADurabilityThatChangesWhileAnInstanceIsAwake(t *testing.T) {
	for name, next := range map[string]agent.Signal{
		"a turn that writes": signal("append", `{"entries":[{"kind":"two"}]}`), "a turn that does not": signal("get", `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			sim(t, nil, func(k *kit) {
				k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
				k.send(k.host, "a", signal("turn", `{"entries":[{"kind":"one"}],"patch":{"n":1}}`))
				k.put(agent.Manager{Name: "m", Durability: agent.DurabilityTurn})
				time.Sleep(time.Minute) // the host has read the manager again
				reply := k.send(k.host, "a", next)
				if got := k.entries("a"); !reply.Durable || uint64(len(got)) != reply.Rev || k.checkpoint("a") == nil {
					k.Errorf("the reply is %+v, and %v are stored", reply, got)
				}
			})
		})
	}
}

// A crash discards turns that are not stored, and their replies too: a repeated signal is handled
// again, in place of the reply of a turn that left no trace. Replies of turns that were stored since
// stay.
func TestARepeatedSignalWhoseTurnACrashDiscarded(t *testing.T) {
	for storage, want := range map[agent.Keeping]int{agent.KeepCluster: 3, agent.KeepNone: 4} {
		withHandler(t, func(k *kit, f *funcs) {
			handled := 0
			f.handle = func(t *instance.Turn) error {
				switch t.Type() {
				case "panic":
					panic("ouch")
				case "save":
					t.Durable()
					return t.Patch(agent.JSON(`{"save":1}`))
				}
				handled++
				return errors.Join(t.Patch(agent.JSON(`{"`+t.Type()+`":1}`)), t.Reply(t.State()))
			}
			k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: agent.DurabilityIdle, Storage: storage})
			early, late := requested(signal("early", ""), "c", 1), requested(signal("late", ""), "c", 2)
			k.send(k.host, "a", early)
			if storage == agent.KeepCluster {
				k.send(k.host, "a", signal("save", ""))
			}
			k.send(k.host, "a", late)
			_, err := k.host.Signal(k.Context(), ref("a"), signal("panic", ""))
			k.code(err, agent.CodeHandlerFailed)
			k.send(k.host, "a", early)
			if reply := k.send(k.host, "a", late); !strings.Contains(string(reply.Data), `"early":1`) {
				k.Errorf("storage %q: %s", storage, reply.Data)
			}
			if k.send(k.host, "a", early); handled != want {
				k.Errorf("storage %q: %d turns, want %d", storage, handled, want)
			}
		})
	}
}

// A turn with the id of an entry that is stored, or that an unsaved turn appends, is refused before it is
// answered. The save of all turns would be refused otherwise, and lose them.
func TestAnEntryWhoseIDIsTakenLosesNoUnsavedTurn(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		entry := func(id, kind string) agent.Signal {
			return signal("append", `{"entries":[{"id":"`+id+`","kind":"`+kind+`"}]}`)
		}
		refused := func(s agent.Signal) {
			t.Helper()
			_, err := k.host.Signal(k.Context(), ref("a"), s)
			k.code(err, agent.CodeDuplicateEntry)
		}
		k.send(k.host, "a", entry("e1", "one"))
		if err := k.host.Hibernate(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		k.send(k.host, "a", signal("turn", `{"entries":[{"id":"e2","kind":"two"}],"patch":{"n":1}}`))
		refused(entry("e1", "stored"))
		refused(entry("e1", "one"))
		refused(entry("e2", "unsaved"))
		refused(signal("append", `{"entries":[{"id":"e3"},{"id":"e3"}]}`))
		k.send(k.host, "a", entry("e3", "three"))
		if err := k.host.Hibernate(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if got := k.entries("a"); !slices.Equal(got, []string{"one", "two", "three"}) {
			k.Errorf("the entries are %v", got)
		}
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("the state is %s", got)
		}
	})
}

// What a crash discards are turns: the state with which an instance was started stays.
func TestACrashKeepsTheInitialState(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		f.handle = func(t *instance.Turn) error {
			if t.Type() == "panic" {
				panic("ouch")
			}
			return t.Reply(t.State())
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: agent.DurabilityIdle})
		k.start("a", `{"role":"x"}`)
		_, err := k.host.Signal(k.Context(), ref("a"), signal("panic", ""))
		k.code(err, agent.CodeHandlerFailed)
		if reply := k.send(k.host, "a", signal("get", "")); string(reply.Data) != `{"role":"x"}` {
			k.Errorf("the state is %s", reply.Data)
		}
		if err := k.host.Hibernate(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if c := k.checkpoint("a"); c == nil || string(c.State) != `{"role":"x"}` {
			k.Errorf("stored is %+v", c)
		}
	})
}

// A manager that stores nothing may change while its instances are awake: they forget nothing.
func TestAnUnstoredInstanceOutlivesAChangeOfItsManager(t *testing.T) {
	sim(t, nil, func(k *kit) {
		m := agent.Manager{Name: "m", Storage: agent.KeepNone}
		k.put(m)
		k.send(k.host, "a", signal("turn", `{"patch":{"n":1},"entries":[{}]}`))
		m.Version = 7
		k.put(m)
		if got := k.state(k.host, "a"); got != `{"n":1}` {
			k.Errorf("the state is %s", got)
		}
		if reply := k.send(k.host, "a", signal("append", `{"entries":[{}]}`)); reply.Rev != 2 {
			k.Errorf("%+v", reply)
		}
	})
}
