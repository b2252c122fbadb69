package instance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/instance"
)

// counted fails the test if the host's counters are wrong.
func counted(t *testing.T, h *instance.Host) {
	t.Helper()
	walked, kept := h.Walk()
	if diff := cmp.Diff(walked, kept); diff != "" {
		t.Errorf("the counters differ from a walk:\n%s", diff)
	}
}

func TestInstancesAreCountedAsTheyChange(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", IdleTimeout: time.Minute})
		k.put(agent.Manager{Name: "other"})
		is := func(awake, attachments int, hibernated uint64) {
			k.Helper()
			counted(k.T, k.host)
			if s := k.stats(); s.Awake != awake || s.Waking != 0 || s.Draining != 0 || s.Attachments != attachments || s.Hibernated != hibernated {
				k.Errorf("%+v; want %d awake, %d attached, %d hibernated", s, awake, attachments, hibernated)
			}
		}
		attach := func(as string, ttl time.Duration) {
			k.Helper()
			if _, err := k.host.Attach(k.Context(), ref("a"), agent.Attach{Attachment: as, TTL: ttl}); err != nil {
				k.Fatal(err)
			}
		}
		attach("x", time.Hour)
		attach("y", 2*time.Minute)
		attach("x", time.Hour)
		k.send(k.host, "b", signal("patch", `{"n":1}`))
		is(2, 2, 0)
		time.Sleep(3 * time.Minute) // y expires, b hibernates
		is(1, 1, 1)
		if err := k.host.Detach(k.Context(), ref("a"), "x"); err != nil {
			k.Fatal(err)
		}
		is(1, 0, 1)
		k.send(k.host, "b", signal("patch", `{"n":2}`))
		if err := k.host.Stop(k.Context(), ref("b")); err != nil {
			k.Fatal(err)
		}
		is(1, 0, 2)
		k.world.give(partition("a"), "n2")
		time.Sleep(time.Second)
		is(0, 0, 2)
		if s, err := k.host.Stats(k.Context(), "", "other"); err != nil || s.Nodes[0].Hibernated != 0 {
			k.Errorf("of another manager: %+v, %v", s, err)
		}
		if s, err := k.host.Stats(k.Context(), "", ""); err != nil || s.Nodes[0].Hibernated != 2 || s.Nodes[0].Wakes != 3 {
			k.Errorf("of all: %+v, %v", s, err)
		}
	})
}

// Idle managers are removed from memory, for example those of a tenant with one
// manager a conversation. The totals keep their counts, and a manager that is
// used again works as before.
func TestIdleManagersAreRemoved(t *testing.T) {
	sim(t, nil, func(k *kit) {
		look := func(n int, wake bool) {
			k.Helper()
			name := fmt.Sprint("m", n)
			if _, err := k.node.PutManager(k.Context(), agent.PutManager{Manager: agent.Manager{Name: name, Handler: agent.Handler{Kind: agent.HandlerDocument}}}); err != nil {
				k.Fatal(err)
			}
			r := agent.InstanceRef{Scope: agent.DefaultScope, Manager: name, Key: "a"}
			if _, err := k.host.Start(k.Context(), r, agent.StartInstance{}); err != nil {
				k.Fatal(err)
			}
			if !wake {
				if err := k.host.Stop(k.Context(), r); err != nil {
					k.Fatal(err)
				}
			}
		}
		for n := range 60 {
			look(n, n < 3)
		}
		time.Sleep(11 * time.Minute)
		for n := 60; n < 70; n++ {
			look(n, false)
		}
		if got := k.host.CachedManagers(); got > 3+10 {
			k.Errorf("%d managers are known, of which three have instances and ten were just used", got)
		}
		counted(k.T, k.host)
		for n := range 70 {
			look(n, n < 3)
		}
		s, err := k.host.Stats(k.Context(), "", "")
		if err != nil || s.Nodes[0].Awake != 3 || s.Nodes[0].Wakes != 70+67 {
			k.Errorf("%+v, %v", s, err)
		}
	})
}
