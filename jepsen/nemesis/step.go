package nemesis

import (
	"fmt"
	"time"
)

// Step is one fault of a plan.
type Step struct {
	N       int           `json:"n"`  // from 1, by At
	At      time.Duration `json:"at"` // since the faults began
	For     time.Duration `json:"for"`
	Fault   string        `json:"fault"`
	Variant string        `json:"variant"`
	Seed    uint64        `json:"seed"` // of the draws when the step starts: affected nodes and strength
}

// String returns the step as one line.
func (s Step) String() string {
	return fmt.Sprintf("%3d. at %6.1fs for %5.1fs: %s, %s", s.N, s.At.Seconds(), s.For.Seconds(), s.Fault, s.Variant)
}
