package node_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/placement"
)

// rollout is a cluster whose programs are replaced while their instances are called.
type rollout struct {
	*hostCluster
	guests map[string]*testHost
	turn   int
}

// put writes a manager of a Go handler.
func (w *rollout) put(manager, handler string, version uint64) {
	w.t.Helper()
	put := &agent.PutManager{Manager: agent.Manager{Name: manager, Version: version, Handler: agent.Handler{Kind: agent.HandlerGo, Name: handler}, Untracked: true}}
	if _, err := w.leader().Service().Commit(w.t.Context(), agent.Commit{Ops: []agent.Op{put}}); err != nil {
		w.t.Fatal(err)
	}
}

// start starts a host with these handlers.
func (w *rollout) start(name, handlers string, version uint64) *testHost {
	w.t.Helper()
	w.guests[name] = w.startHost(name, recordingHandlersBy(name, handlers, version))
	<-w.guests[name].Ready()
	return w.guests[name]
}

// end ends a host in order.
func (w *rollout) end(name string) {
	w.t.Helper()
	w.guests[name].stop()
	if err := <-w.guests[name].done; err != nil {
		w.t.Errorf("%s stopped with: %v", name, err)
	}
	delete(w.guests, name)
}

// owned returns the number of partitions of each owner.
func (w *rollout) owned() map[string]int {
	owned := map[string]int{}
	for _, p := range w.leader().Machine().Partitions() {
		owned[p.Owner]++
	}
	return owned
}

// shared reports whether exactly the running hosts own all partitions, each about its fair share,
// and none is moving.
func (w *rollout) shared() bool {
	owned := w.owned()
	fair := layout.Partitions / len(w.guests)
	for name := range w.guests {
		if owned[name] < fair*9/10 || owned[name] > fair*11/10+1 {
			return false
		}
	}
	return len(owned) == len(w.guests)
}

// round calls some instances of a manager, each through another node. It counts the calls by
// handling process and by owner.
func (w *rollout) round(manager string, keys int) (by, at map[string]int) {
	w.t.Helper()
	by, at = map[string]int{}, map[string]int{}
	for i := range keys {
		w.turn++
		reply := w.send(w.awake[fmt.Sprint("n", 1+w.turn%3)].Instances(), agent.InstanceRef{Manager: manager, Key: fmt.Sprint("k", i)})
		by[strings.TrimSuffix(strings.TrimPrefix(string(reply.Data), `{"by":"`), `"}`)]++
		at[reply.Node]++
	}
	return by, at
}

// settles waits until the hosts share all partitions, while instances of a manager are called.
func (w *rollout) settles(manager string) {
	w.t.Helper()
	w.await(fmt.Sprintf("%v to share it", slices.Sorted(maps.Keys(w.guests))), func() bool {
		w.round(manager, 4)
		return w.shared()
	})
}

func (w *rollout) handledBy(what, manager string, want ...string) (at map[string]int) {
	w.t.Helper()
	by, at := w.round(manager, 24)
	if got := slices.Sorted(maps.Keys(by)); !slices.Equal(got, want) {
		w.t.Errorf("%s, manager %s: handled by %v, want %v", what, manager, by, want)
	}
	return at
}

// CL-3: a program with one more handler is rolled out process by process, during calls. The first
// new process gets its fair share and nothing else moves. It handles the new manager's turns,
// wherever the instances are kept, and later all new processes do. Each acknowledged signal has its
// effect once.
func TestAProgramWithANewHandlerIsRolledOutProcessByProcessSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &rollout{newHostCluster(t, 3), map[string]*testHost{}, 0}
		for _, name := range []string{"h1", "h2", "h3"} {
			w.start(name, "tally", 1)
		}
		w.settles("tallies")
		w.put("scores", "score", 1)
		_, err := w.awake["n1"].Instances().Signal(t.Context(), agent.InstanceRef{Manager: "scores", Key: "k"}, agent.Signal{Type: "count"})
		var refused *agent.Error
		if !errors.As(err, &refused) || refused.Code != agent.CodeUnavailable || refused.Reason != "not_registered" || !strings.Contains(refused.Detail, `Go handler "score"`) {
			t.Errorf("nobody has its handler: %v", err)
		}

		before := w.leader().Machine().Partitions()
		w.start("h4", "tally score", 1)
		w.settles("tallies")
		moved := 0
		for n, p := range w.leader().Machine().Partitions() {
			if p.Owner == before[n].Owner {
				continue
			}
			if moved++; p.Owner != "h4" {
				t.Fatalf("partition %d went from %s to %s, which is not new", n, before[n].Owner, p.Owner)
			}
		}
		if moved > layout.Partitions/4*11/10+1 {
			t.Errorf("%d partitions moved", moved)
		}
		if at := w.handledBy("one has it", "scores", "h4"); len(at) < 3 {
			t.Errorf("its instances are kept at %v", at)
		}
		w.handledBy("one has more", "tallies", "h1", "h2", "h3", "h4")

		for i, old := range []string{"h1", "h2", "h3"} {
			w.end(old)
			w.round("scores", 8)
			w.start(fmt.Sprint("h", 5+i), "tally score", 1)
			w.settles("scores")
			w.round("tallies", 8)
		}
		w.handledBy("all have it", "scores", "h4", "h5", "h6", "h7")
		w.handledBy("all have it", "tallies", "h4", "h5", "h6", "h7")
		w.whole()
		for name := range maps.Clone(w.guests) {
			w.end(name)
		}
		w.agree()
	})
}

// A new version of a handler is added beside the old one, and takes over when its manager is set to
// it: for that manager's turns only. No process has to wait for another one to stop.
func TestANewVersionOfAHandlerIsRolledOutBesideTheOldSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &rollout{newHostCluster(t, 3), map[string]*testHost{}, 0}
		w.put("tallies", "tally", 1)
		w.put("scores", "tally", 1)
		w.start("h1", "tally", 1)
		w.start("h2", "tally", 1)
		w.settles("tallies")
		w.round("scores", 24)

		w.start("h3", "tally", 2)
		w.settles("scores")
		if at := w.handledBy("the new one is up", "tallies", "h1", "h2"); at["h3"] == 0 {
			t.Errorf("its instances are kept at %v", at)
		}
		before := w.owned()
		w.put("tallies", "tally", 2)
		time.Sleep(2 * time.Second) // in which owners learn of it
		if at := w.handledBy("its manager is at it", "tallies", "h3"); len(at) != 3 {
			t.Errorf("its instances are kept at %v", at)
		}
		w.handledBy("its manager is not", "scores", "h1", "h2")
		if after := w.owned(); !maps.Equal(before, after) {
			t.Errorf("it moved partitions: %v, then %v", before, after)
		}

		w.end("h1")
		w.start("h4", "tally", 2)
		w.settles("tallies")
		w.handledBy("one old is left", "scores", "h2")
		w.put("scores", "tally", 2)
		time.Sleep(2 * time.Second)
		w.handledBy("its manager is at it", "scores", "h3", "h4")
		w.end("h2")
		w.settles("scores")
		w.whole()
		for name := range maps.Clone(w.guests) {
			w.end(name)
		}
	})
}

// Calls wait for a process that is cut off, and whose handler others lack, at most for its lease.
// Then another process handles its remote turns: none twice, none lost.
func TestRemoteTurnsContinueWithAnotherProcessSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &rollout{newHostCluster(t, 3), map[string]*testHost{}, 0}
		w.put("scores", "score", 1)
		w.start("h1", "tally", 1)
		w.start("h2", "tally score", 1)
		w.start("h3", "tally score", 1)
		w.settles("tallies")
		w.handledBy("two have it", "scores", "h2", "h3")
		w.cutOff("h2")
		cut := time.Now()
		for i := range 24 {
			ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "scores", Key: fmt.Sprint("k", i)}
			if w.leader().Machine().Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key)).Owner == "h1" {
				ref.Scope = "" // as the rounds name it
				w.send(w.awake["n1"].Instances(), ref)
			}
		}
		if took := time.Since(cut); took > rehomedMax {
			t.Errorf("the remote turns to a process that is there took %v", took)
		}
		w.round("scores", 24)
		w.handledBy("one is cut off", "scores", "h3")
		w.heal()
		w.settles("scores")
		w.handledBy("it is back", "scores", "h2", "h3")
		w.whole()
		for name := range maps.Clone(w.guests) {
			w.end(name)
		}
	})
}
