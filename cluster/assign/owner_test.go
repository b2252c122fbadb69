package assign

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/cluster/transport"
)

// All nodes know who owns what, so a request proves its sender's ownership by the process and the epoch.
func TestOnlyTheOwnerReleasesItsPartitions(t *testing.T) {
	committed := 0
	a := New(Options{
		Placement: Placement{Table: twoMembers{}}, Machine: twoMembers{}, Leadership: leads{},
		Commit: func(context.Context, []byte) (uint64, error) { committed++; return 7, nil },
	})
	own := Held{1, 1}
	for name, c := range map[string]struct {
		r       Request
		allowed bool
	}{
		"the owner":            {Request{Node: "n1", Process: "p", Held: []Held{own, {2, 1}}}, true},
		"another node":         {Request{Node: "n2", Process: "p", Held: []Held{own}}, false},
		"an earlier process":   {Request{Node: "n1", Process: "o", Held: []Held{own}}, false},
		"an earlier ownership": {Request{Node: "n1", Process: "p", Held: []Held{own, {1, 0}}}, false},
		"no partition":         {Request{Node: "n1", Process: "p", Held: []Held{{layout.Partitions, 1}}}, false},
		"a negative one":       {Request{Node: "n1", Process: "p", Held: []Held{{-1, 1}}}, false},
		"too many":             {Request{Node: "n1", Process: "p", Held: make([]Held, layout.Partitions+1)}, false},
	} {
		for _, kind := range []Kind{Release, Keep} {
			before := committed
			c.r.Kind = kind
			answer := a.Handle(t.Context(), c.r)
			if done := committed > before; done != c.allowed || c.allowed != (answer.Refused == "") {
				t.Errorf("%s: %s: %+v, committed %v", name, kind, answer, done)
			}
		}
	}
}

// Only a refusal of the state machine is final; another error says nothing of the outcome.
func TestARequestWithoutAnOutcomeIsNotRefused(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Response
	}{
		"refused":  {&agent.Error{Code: agent.CodeAlreadyClaimed, Final: true, Detail: "x"}, Response{Refused: agent.CodeAlreadyClaimed, Detail: "x"}},
		"unknown":  {agent.Errorf(agent.CodeUnknown, "x"), Response{Leader: "n1", LeaderAddr: "n1:raft"}},
		"deposed":  {agent.Errorf(agent.CodeUnavailable, "x"), Response{Leader: "n1", LeaderAddr: "n1:raft"}},
		"no error": {nil, Response{Index: 7}},
	} {
		a := New(Options{
			Placement: Placement{Table: twoMembers{}}, Machine: twoMembers{}, Leadership: leads{},
			Commit: func(context.Context, []byte) (uint64, error) { return 7, c.err },
		})
		if got := a.Handle(t.Context(), Request{Kind: Renew, Node: "n1"}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// drainTable has partitions that drain at epoch 3, but for those that are gone.
type drainTable struct {
	gone    map[int]layout.Partition
	changed chan struct{}
}

func (d *drainTable) Partition(n int) layout.Partition {
	if p, ok := d.gone[n]; ok {
		return p
	}
	return layout.Partition{ID: n, Epoch: 3, State: layout.PartitionDraining}
}

func (d *drainTable) PartitionsChanged() <-chan struct{} { return d.changed }

// Another drain of the same partition is none of this request.
func TestAReleaseEndsWithItsOwnDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &drainTable{gone: map[int]layout.Partition{}, changed: make(chan struct{})}
		held := []Held{{1, 3}, {2, 3}, {3, 3}}
		var asked [][]Held
		err := RetryUntilReleased(t.Context(), table, Request{Kind: Release, Held: held}, func(_ context.Context, r Request) bool {
			asked = append(asked, r.Held)
			switch len(asked) {
			case 1:
				table.gone[2] = layout.Partition{ID: 2, Epoch: 4, State: layout.PartitionDraining}
			case 2:
				table.gone[1] = layout.Partition{ID: 1, Epoch: 3, State: layout.PartitionOwned}
				table.gone[3] = layout.Partition{ID: 3, Epoch: 4, State: layout.PartitionOwned}
			case 3:
				t.Fatalf("none of them drains, and it asks for %v", r.Held)
			}
			return false
		})
		if err != nil || len(asked) != 2 || !slices.Equal(asked[1], []Held{{1, 3}, {3, 3}}) {
			t.Errorf("%v: asked for %v", err, asked)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = RetryUntilReleased(ctx, table, Request{Held: []Held{{9, 3}}}, func(context.Context, Request) bool { return false })
		if agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("without an answer: %v", err)
		}
	})
}

// member is a Machine, a Table and a Leadership of a follower.
type member struct {
	twoMembers
	applied error // why entries are not applied
	changed chan struct{}
}

func (m *member) WaitApplied(context.Context, uint64) error { return m.applied }
func (m *member) IsLeader() bool                            { return false }
func (m *member) Leader() (id, addr string)                 { return "n2", "n2:raft" }
func (m *member) LeaderChanged() <-chan struct{}            { return m.changed }
func (m *member) Takeover() (Takeover, bool)                { return Takeover{}, false }
func (m *member) Tick() uint64                              { return 0 }

func (m *member) assigner(t *testing.T, ask func(context.Context, string, Request) (Response, error)) *Assigner {
	t.Helper()
	self, err := transport.LoadSelf("n1", raft.NewInmemStore())
	if err == nil {
		err = self.Adopt("c")
	}
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Placement: Placement{Table: m, LeaseTTL: leaseTTL, Ask: ask}, Machine: m, Leadership: m, Self: self, Addr: "n1:raft", Logger: hclog.NewNullLogger(),
	})
}

// The holder of a lease looks at its table, which must be as new as the lease.
func TestALeaseHoldsOnceItsRenewalIsApplied(t *testing.T) {
	for _, applied := range []error{nil, errors.New("behind")} {
		synctest.Test(t, func(t *testing.T) {
			m := &member{applied: applied, changed: make(chan struct{})}
			a := m.assigner(t, func(context.Context, string, Request) (Response, error) { return Response{Index: 9}, nil })
			ctx, cancel := context.WithTimeout(t.Context(), leaseTTL)
			defer cancel()
			if err := a.KeepLease(ctx); err != nil {
				t.Error(err)
			}
			if has := !a.LeaseUntil().IsZero(); has != (applied == nil) {
				t.Errorf("entries are applied: %v; it has a lease: %v", applied == nil, has)
			}
		})
	}
}

// A leader that fell silent never answers, and the next one does.
func TestARequestToALeaderEndsWithItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &member{changed: make(chan struct{})}
		a := m.assigner(t, func(ctx context.Context, _ string, _ Request) (Response, error) {
			<-ctx.Done()
			return Response{}, ctx.Err()
		})
		began := time.Now()
		time.AfterFunc(10*time.Millisecond, func() { close(m.changed) })
		if answer := a.ask(t.Context(), Request{Kind: Renew}); answer != (Response{}) || time.Since(began) != 10*time.Millisecond {
			t.Errorf("%+v after %v", answer, time.Since(began))
		}
	})
}
