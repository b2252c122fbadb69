package schedule_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dormouse/backup/schedule"
)

// overdue is the metric of a runner; false if it has none.
func overdue(t *testing.T, r *schedule.Runner) (time.Time, bool) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "dormouse_backup_overdue_timestamp_seconds" {
			return time.UnixMilli(int64(family.GetMetric()[0].GetGauge().GetValue() * 1000)), true
		}
	}
	return time.Time{}, false
}

// Backups are overdue at the second time of the schedule after the newest one: the first is when the next begins.
func TestTheLeaderTellsWhenBackupsAreOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		r := c.run(t, "n1")
		c.lead("n1")
		time.Sleep(time.Second)
		if at, ok := overdue(t, r); ok {
			t.Errorf("before the first backup: %v", at)
		}
		c.write(5)
		time.Sleep(time.Minute)
		all := c.contents(t).Backups
		if len(all) != 1 {
			t.Fatalf("there are %+v", all)
		}
		began := time.UnixMilli(all[0].StartedAt)
		if at, ok := overdue(t, r); !ok || !at.Equal(began.Add(2*time.Hour)) { // one is due each hour
			t.Errorf("after the first backup, at %v: %v, %v", began, at, ok)
		}
		c.memory.mu.Lock()
		c.fail = errors.New("the destination is full")
		c.memory.mu.Unlock()
		time.Sleep(3 * time.Hour)
		if at, _ := overdue(t, r); !at.Equal(began.Add(2 * time.Hour)) {
			t.Errorf("while backups fail: %v", at)
		}
		c.lead("n2")
		time.Sleep(time.Second)
		if at, ok := overdue(t, r); ok {
			t.Errorf("of a node that does not lead: %v", at)
		}
	})
}
