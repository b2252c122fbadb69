package check

import (
	"fmt"
	"time"
)

// Limits of a node's resources at rest. The limit is twice the maximum of any node
// under load before the first fault, plus a floor. Caches and files of a store that
// has grown are not leaks.
const (
	growthFactor     = 2
	goroutinesFloor  = 100
	descriptorsFloor = 150
	rssFloor         = 1 << 30
	// baselineMax bounds the time before the first fault that counts as the baseline.
	baselineMax = 10 * time.Second
)

// growth reports nodes whose resources do not return to the baseline after the calls
// end.
func (t *timeline) growth(broken *findings) {
	base, any := t.baseline()
	if !any {
		return
	}
	for node, s := range t.atRest() {
		for _, g := range []struct {
			what         string
			was, is, cap int64
		}{
			{"goroutines", int64(base.Goroutines), int64(s.Goroutines), growthFactor*int64(base.Goroutines) + goroutinesFloor},
			{"descriptors", int64(base.Descriptors), int64(s.Descriptors), growthFactor*int64(base.Descriptors) + descriptorsFloor},
			{"bytes of memory", base.RSS, s.RSS, growthFactor*base.RSS + rssFloor},
		} {
			if g.was > 0 && g.is > g.cap {
				broken.add("growth", node, fmt.Sprintf("node %s holds %d %s at rest, and the maximum under load was %d: more than %d", node, g.is, g.what, g.was, g.cap))
			}
		}
	}
}

// baseline returns the maximum of any node before the first fault.
func (t *timeline) baseline() (most Sample, any bool) {
	from := t.phases[PhaseFaults]
	to := from + baselineMax
	for _, w := range t.windows {
		to = min(to, w.From)
	}
	for _, e := range t.Events {
		s, ok := SampleOf(e)
		if !ok || e.At < from || e.At > to {
			continue
		}
		any = true
		most.Goroutines = max(most.Goroutines, s.Goroutines)
		most.Descriptors = max(most.Descriptors, s.Descriptors)
		most.RSS = max(most.RSS, s.RSS)
	}
	return most, any
}

// atRest returns the last sample of each node after the final reads.
func (t *timeline) atRest() map[string]Sample {
	last := map[string]Sample{}
	final, ok := t.phases[PhaseFinal]
	if !ok {
		return nil
	}
	for _, e := range t.Events {
		if s, ok := SampleOf(e); ok && e.At > final && e.Name != FinalLook {
			last[e.Node] = s
		}
	}
	return last
}
