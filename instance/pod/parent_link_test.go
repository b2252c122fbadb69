package pod_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// PD-14: a node's key determines its pod and its ancestry, at any depth.
func TestANodesKeyDeterminesItsPod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z/%. ü]{1,6}`).Filter(func(s string) bool { return s != "." && s != ".." })
		at := agent.InstanceRef{Scope: "s", Manager: word.Draw(t, "manager"), Key: word.Draw(t, "key")}
		want := []string{at.Manager}
		for range rapid.IntRange(0, 2).Draw(t, "deep") {
			name, manager := word.Draw(t, "node"), word.Draw(t, "keeper")
			topology := pod.Topology{Affinity: rapid.Bool().Draw(t, "affinity"), Nodes: map[string]pod.Node{name: {Kind: pod.KindPod, Manager: manager}}}
			ref, err := topology.NodeRef(at, name)
			if err != nil {
				return // the key is too long
			}
			if holder, node, ok := pod.ParseKey(ref.Scope, ref.Key); !ok || holder != at || node != name {
				t.Fatalf("%q is node %q of %+v, %t; want %q of %+v", ref.Key, node, holder, ok, name, at)
			}
			at, want = ref, append(want, manager)
		}
		if got := pod.Ancestry(at); !slices.Equal(got, want) {
			t.Fatalf("ancestry %q, want %q", got, want)
		}
	})
}

func TestANodeWhoseKeyIsTooLongIsRefused(t *testing.T) {
	_, err := parse(t, team).NodeRef(agent.InstanceRef{Manager: "teams", Key: strings.Repeat("%", 200)}, "boss")
	if agent.CodeOf(err) != agent.CodeTooLarge {
		t.Errorf("got %v, want too_large", err)
	}
}

// PD-5: parent links over the runs of a pod.
func TestParentLinks(t *testing.T) {
	at := agent.InstanceRef{Manager: "teams", Key: "a"}
	awake := func(string) bool { return true }
	slot := pod.NewSlot(parse(t, team)).WithRun("x")
	for _, node := range []string{"boss", "ann", "eve"} {
		slot = slot.SetParent(node, true)
	}
	parentOf := func(s pod.Slot, node string, awake func(string) bool) string {
		if p := s.ActualParent(at, node, awake); p != nil {
			return "under " + p.Node
		}
		return "nowhere"
	}
	before := slot
	for name, c := range map[string]struct {
		slot           pod.Slot
		awake          func(string) bool
		boss, ann, eve string
	}{
		"as started":            {slot, awake, "under ", "under boss", "under ann"},
		"in the pod's next run": {slot.WithRun("y"), awake, "nowhere", "under boss", "under ann"},
		"after ann came back":   {slot.SetParent("ann", true), awake, "under ", "under boss", "nowhere"},
		"while ann sleeps":      {slot, func(n string) bool { return n != "ann" }, "under ", "under boss", "nowhere"},
		"without boss":          {slot.ClearParent("boss"), awake, "nowhere", "nowhere", "under ann"},
	} {
		got := []string{parentOf(c.slot, "boss", c.awake), parentOf(c.slot, "ann", c.awake), parentOf(c.slot, "eve", c.awake)}
		if want := []string{c.boss, c.ann, c.eve}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(before.Parents) != 3 {
		t.Errorf("a slot was changed in its place: %v", before.Parents)
	}
}

// A report that exceeds the reply's limit is abridged, and says so.
func TestALongReportIsAbridged(t *testing.T) {
	failures := map[string]pod.Failure{}
	for i := range 400 {
		failures[fmt.Sprint("n", i)] = pod.Failure{Stage: pod.StageStart, Code: agent.CodeThawFailed, Detail: strings.Repeat("x", 250)}
	}
	for name, v := range map[string]any{
		"reconcile": pod.Reconciled{Failures: failures}, "mutation": pod.Progress{Report: &pod.Report{Failures: failures}}, "rest": pod.Rested{Failures: failures},
	} {
		raw, err := pod.Reply(v)
		if err != nil || len(raw) > agent.SignalReplyBytesMax || !strings.Contains(string(raw), `"abridged":true`) {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
}
