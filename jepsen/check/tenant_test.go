package check_test

import (
	"testing"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// beside adds 40 pulses from second 22 on, of which every nth fails.
func (s *story) beside(nth int) {
	for n := range 40 {
		from := 22 + float64(n)/4
		s.pulse(from, from+0.1)
		if n%nth == 0 {
			last := &s.h.Ops[len(s.h.Ops)-1]
			last.Outcome, last.Return = history.Unknown, history.Never
		}
	}
}

func TestANoisyTenantLeavesRoom(t *testing.T) {
	for name, c := range map[string]struct {
		nth   int
		other bool // another fault is there too
		rule  string
	}{
		"few fail":                         {20, false, ""},
		"every fourth fails":               {4, false, "crowded out"},
		"they fail for another fault also": {4, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.fault(2, 22, 32, check.FaultTenant, "small commits")
			if c.other {
				s.fault(3, 25, 26, "kill", "leader")
			}
			s.beside(c.nth)
			r := check.Liveness(&s.h)
			judged(t, r, c.rule)
			if !c.other && r.Counts[check.CountTenantPulses] < 40 {
				t.Errorf("judged %d pulses", r.Counts[check.CountTenantPulses])
			}
		})
	}
}
