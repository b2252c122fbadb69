package cluster_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/agent"
	"dormouse/cluster"
)

func TestALeaderWhoseDiskIsNearlyFullHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		free := map[*cluster.Group]*atomic.Int64{}
		l.opened = func(g *cluster.Group) {
			room := new(atomic.Int64)
			room.Store(1 << 40)
			free[g] = room
			g.SetDisk(t.TempDir(), room.Load)
		}
		l.found("n1", "n2", "n3")
		full := l.leader()
		free[full.group].Store(0)
		l.until("writes are not taken", func() bool { // and may be tried again elsewhere at once
			err := full.put("x", 0)
			if err != nil && agent.CodeOf(err) != agent.CodeUnavailable {
				t.Errorf("refused with %v", err)
			}
			return err != nil
		})
		next := l.otherLeader(full)
		if err := next.put("x", 1); err != nil {
			t.Errorf("the others do not go on: %v", err)
		}
		l.until("the full one follows", func() bool { return full.machine.Applied() == next.machine.Applied() })
	})
}

func TestALoneNodeWhoseDiskIsNearlyFullIsReadOnlyUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var free atomic.Int64
		free.Store(1 << 40)
		l.opened = func(g *cluster.Group) { g.SetDisk(t.TempDir(), free.Load) }
		l.found("n1")
		n := l.leader()
		if err := n.put("x", 1); err != nil {
			t.Fatal(err)
		}
		free.Store(0)
		l.until("writes are refused", func() bool { return agent.CodeOf(n.put("x", 2)) == agent.CodeReadOnly })
		if got, err := n.read("x"); err != nil || got < 1 {
			t.Errorf("read %d, %v", got, err)
		}
		if err := n.group.Ready(); err != nil {
			t.Errorf("it serves reads, and is not ready: %v", err)
		}
		if got := gauge(t, n.group, "dormouse_cluster_read_only"); got != 1 {
			t.Errorf("the metric says %v", got)
		}
		free.Store(1 << 40)
		l.until("there is room again", func() bool { return n.put("x", 3) == nil })
		if got := gauge(t, n.group, "dormouse_cluster_disk_free_bytes"); got != 1<<40 {
			t.Errorf("%v bytes are free", got)
		}
	})
}

// Where no node has room, callers must hear so instead of trying again. Reads go on: a balancer
// sends them to nodes that are ready.
func TestAClusterWithoutRoomIsReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		var free atomic.Int64
		free.Store(1 << 40)
		l.opened = func(g *cluster.Group) { g.SetDisk(t.TempDir(), free.Load) }
		l.found("n1", "n2", "n3")
		free.Store(0)
		l.until("writes are refused", func() bool { return agent.CodeOf(l.leader().put("x", 2)) == agent.CodeReadOnly })
		for _, name := range l.names {
			if err := l.nodes[name].group.Ready(); err != nil {
				t.Errorf("%s is not ready: %v", name, err)
			}
		}
		if _, err := l.leader().read("x"); err != nil {
			t.Errorf("a read: %v", err)
		}
		free.Store(1 << 40)
		l.until("there is room again", func() bool { return l.leader().put("x", 3) == nil })
	})
}

// gauge is what a group's metric stands at.
func gauge(t *testing.T, g *cluster.Group, name string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(g.Collector())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Errorf("there is no metric %s", name)
	return 0
}
