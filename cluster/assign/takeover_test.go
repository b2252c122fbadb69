package assign

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/cluster/transport"
)

// succession is what node n1 sees of its leaders and of the leases.
type succession struct {
	Leadership
	Machine
	Table
	takeover Takeover
	leads    bool
	leader   string // while n1 does not lead
	level    uint32
	leases   []layout.NodeLease
	ended    []string // node and process of each lease that was ended, and the term
}

func (s *succession) Takeover() (Takeover, bool)     { return s.takeover, s.leads }
func (s *succession) Leader() (id, addr string)      { return s.leader, s.leader + ":raft" }
func (s *succession) FeatureLevel() uint32           { return s.level }
func (s *succession) NodeLeases() []layout.NodeLease { return s.leases }
func (s *succession) Commit(_ context.Context, cmd []byte) (uint64, error) {
	s.ended = append(s.ended, string(cmd))
	return 1, nil
}

func (s *succession) EncodeLapseNodeLease(node, process string, term uint64) []byte {
	return fmt.Appendf(nil, "%s %s %d", node, process, term)
}

// lead makes n1 lead from now on, in a term after the one of the leader that it has heard until then.
func (s *succession) lead(term uint64, heard time.Duration) {
	s.leads, s.takeover = true, Takeover{Term: term, Tick: 100, Began: time.Now(), Heard: time.Now().Add(-heard)}
}

func (s *succession) assigner() *Assigner {
	return New(Options{
		Placement: Placement{Table: s}, Self: &transport.Self{Node: "n1"}, Machine: s, Leadership: s, Commit: s.Commit, Logger: hclog.NewNullLogger(),
	})
}

const lapseTTL = 3 * time.Second

func TestTheLeaseOfTheLeaderBeforeEndsOnceItHasLapsedForIt(t *testing.T) {
	for name, c := range map[string]struct {
		heard time.Duration // before n1 led
		wait  time.Duration // until the lease is ended
	}{
		"heard until it led":       {0, lapseTTL},
		"silent for a second":      {time.Second, 2 * time.Second},
		"silent for longer":        {lapseTTL, lapseTTL / 3}, // it may live, and renew at n1
		"silent for a long time":   {time.Hour, lapseTTL / 3},
		"a third is left, or more": {2 * time.Second, lapseTTL / 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &succession{leader: "n2", level: layout.LapseLevel, leases: []layout.NodeLease{
					{Node: "n3", Life: "p3", TTL: lapseTTL, ArmedTick: 50}, {Node: "n2", Life: "p2", TTL: lapseTTL, ArmedTick: 100},
				}}
				a, before := s.assigner(), predecessor{}
				a.lapse(t.Context(), &before)
				s.lead(5, c.heard)
				if wait := a.lapse(t.Context(), &before); wait != c.wait || len(s.ended) != 0 {
					t.Errorf("it waits for %v, want %v; ended %v", wait, c.wait, s.ended)
				}
				time.Sleep(c.wait)
				for range 2 {
					a.lapse(t.Context(), &before)
				}
				if len(s.ended) != 1 || s.ended[0] != "n2 p2 5" {
					t.Errorf("ended %q", s.ended)
				}
			})
		})
	}
}

func TestNoOtherLeaseIsEnded(t *testing.T) {
	for name, change := range map[string]func(s *succession){
		"renewed at this leader":            func(s *succession) { s.leases[0].ArmedTick = 101 },
		"nothing was heard since the start": func(s *succession) { s.takeover.Heard = time.Time{} },
		"older nodes cannot apply it":       func(s *succession) { s.level = layout.LapseLevel - 1 },
		"another node's":                    func(s *succession) { s.leases[0].Node = "n3" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &succession{leader: "n2", level: layout.LapseLevel, leases: []layout.NodeLease{{Node: "n2", Life: "p2", TTL: lapseTTL}}}
				a, before := s.assigner(), predecessor{}
				a.lapse(t.Context(), &before)
				s.lead(5, 0)
				change(s)
				for range 3 {
					a.lapse(t.Context(), &before)
					time.Sleep(lapseTTL)
				}
				if len(s.ended) != 0 {
					t.Errorf("ended %q", s.ended)
				}
			})
		})
	}
}

// A node that leads again, with no other leader between, is its own predecessor: the others have renewed their leases
// in its earlier term.
func TestANodeThatLeadsAgainEndsNoLease(t *testing.T) {
	for _, seen := range []string{"", "n1"} { // a node names itself before its term is open
		synctest.Test(t, func(t *testing.T) {
			s := &succession{leader: "n2", level: layout.LapseLevel, leases: []layout.NodeLease{{Node: "n2", Life: "p2", TTL: lapseTTL, ArmedTick: 101}, {Node: "n1", Life: "p1", TTL: lapseTTL}}}
			a, before := s.assigner(), predecessor{}
			a.lapse(t.Context(), &before)
			s.lead(5, 0)
			a.lapse(t.Context(), &before)
			time.Sleep(time.Minute)
			s.leads, s.leader = false, seen
			a.lapse(t.Context(), &before)
			s.lead(6, time.Minute)
			s.takeover.Tick = 60_000
			for range 3 {
				a.lapse(t.Context(), &before)
				time.Sleep(lapseTTL)
			}
			if len(s.ended) != 0 {
				t.Errorf("after the leader %q it ended %q", seen, s.ended)
			}
		})
	}
}
