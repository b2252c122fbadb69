package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/assign"
)

// The cached list of owned partitions follows each change of the table.
func TestOwnedPartitionsFollowTheTable(t *testing.T) {
	table := newTable("h", time.Second)
	owned := func(n int, owner, life string) layout.Partition {
		return layout.Partition{ID: n, Owner: owner, Incarnation: life, Epoch: 1, State: layout.PartitionOwned}
	}
	draining := owned(2, "h", "L1")
	draining.State, draining.To = layout.PartitionDraining, "g"
	for i, step := range []struct {
		changed     []layout.Partition
		ours, drain int
	}{
		{changed: nil, ours: 0},
		{changed: []layout.Partition{owned(1, "h", "L1"), owned(2, "h", "L1"), owned(3, "h", "L0"), owned(4, "g", "L1")}, ours: 2},
		{changed: []layout.Partition{owned(4, "h", "L1")}, ours: 3},
		{changed: []layout.Partition{draining}, ours: 3, drain: 1},
		{changed: []layout.Partition{owned(2, "g", "L1"), owned(1, "g", "L1")}, ours: 1},
	} {
		table.update(assign.TableUpdate{Index: uint64(i + 1), Partitions: step.changed})
		for range 2 {
			if got := table.owned("L1"); len(got) != step.ours {
				t.Errorf("step %d: it owns %+v, want %d", i, got, step.ours)
			}
		}
		if got := table.PartitionsDraining(); len(got) != step.drain {
			t.Errorf("step %d: %+v drain, want %d", i, got, step.drain)
		}
	}
	if got := table.owned("L0"); len(got) != 1 {
		t.Errorf("an earlier life owns %+v", got)
	}
}

// answered is a service that answers at an index.
type answered struct {
	agent.Submitter
	index uint64
}

func (a answered) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{Index: a.index}, nil
}

// A caller that looks at the owners after a read sees all that came before it. A stale read waits for nothing.
func TestAReadReturnsOnceTheTableIsAsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable("h", time.Second)
		s := service{answered{index: 7}, table}
		table.update(assign.TableUpdate{Index: 6})
		if _, err := s.Read(t.Context(), agent.Reads{Stale: true}); err != nil {
			t.Error(err)
		}
		read := make(chan error, 1)
		go func() { _, err := s.Read(t.Context(), agent.Reads{}); read <- err }()
		synctest.Wait()
		if len(read) != 0 {
			t.Error("it returned before the table had its index")
		}
		table.update(assign.TableUpdate{Index: 7})
		if err := <-read; err != nil {
			t.Error(err)
		}
	})
}
