package cluster_test

import (
	"testing"
	"testing/synctest"

	"dormouse/cluster"
)

func TestALoneNodeFoundsItselfAndServesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		n := l.start("n1", func(o *cluster.Options) { o.Bootstrap, o.Timing = true, cluster.AloneTiming() })
		l.leader()
		if err := n.put("x", 1); err != nil {
			t.Fatal(err)
		}
		if v, err := n.read("x"); err != nil || v != 1 {
			t.Fatalf("read %d, %v", v, err)
		}
		if err := n.group.Ready(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestThreeNodesReplicateAndSurviveTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trio(t, nil)
		old := l.leader()
		if err := old.put("x", 1); err != nil {
			t.Fatal(err)
		}
		old.crash()
		next := l.otherLeader(old)
		if v, err := next.read("x"); err != nil || v != 1 {
			t.Fatalf("read %d, %v", v, err)
		}
		if err := next.put("x", 2); err != nil {
			t.Fatal(err)
		}
	})
}
