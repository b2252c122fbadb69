package assign

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dormouse/agent/layout"
)

func TestAFollowerOfTheTableGetsAllAndThenWhatChanged(t *testing.T) {
	before := []*layout.Partition{{ID: 0}, {ID: 1, Owner: "a"}, {ID: 2}}
	if got := changedSince(nil, before); !slices.Equal(got, []layout.Partition{{ID: 0}, {ID: 1, Owner: "a"}, {ID: 2}}) {
		t.Errorf("at first: %+v", got)
	}
	now := slices.Clone(before)
	if got := changedSince(before, now); len(got) != 0 {
		t.Errorf("of what stayed: %+v", got)
	}
	now[1] = &layout.Partition{ID: 1, Owner: "b"}
	if got := changedSince(before, now); !slices.Equal(got, []layout.Partition{{ID: 1, Owner: "b"}}) {
		t.Errorf("of one that changed: %+v", got)
	}
}

// busy is a state machine that applies an entry while each part of its table is read.
type busy struct {
	leads
	Machine
	Table
	applied uint64
}

func (b *busy) apply()                                    { b.applied++ }
func (b *busy) Applied() uint64                           { return b.applied }
func (b *busy) WaitApplied(context.Context, uint64) error { return nil }
func (b *busy) LeaderChanged() <-chan struct{}            { return nil }
func (b *busy) PartitionsChanged() <-chan struct{}        { return nil }

func (b *busy) Partitions() []*layout.Partition {
	defer b.apply()
	return []*layout.Partition{{ID: 0, Epoch: b.applied}}
}

func (b *busy) Members() []layout.Member {
	defer b.apply()
	return nil
}

func (b *busy) NodeLeases() []layout.NodeLease {
	defer b.apply()
	return nil
}

// A host takes the index for the age of the table, so the table must be as new.
func TestTheTableIsNoOlderThanItsIndex(t *testing.T) {
	b := &busy{applied: 7}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan uint64, 1)
	asked <- 1
	a := New(Options{Placement: Placement{Table: b}, Machine: b, Leadership: b})
	err := a.FollowTable(ctx, asked, func(u TableUpdate) error {
		if u.Index != 7 || u.Partitions[0].Epoch < u.Index {
			t.Errorf("the table of entry %d is sent as that of entry %d", u.Partitions[0].Epoch, u.Index)
		}
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
