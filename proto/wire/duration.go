package wire

import (
	"math"
	"time"

	"dormouse/agent"
)

// millis rounds up: a ttl of a few microseconds must not become 0, which means
// "for ever". A negative one turns into a number that duration refuses.
func millis(d time.Duration) uint64 {
	if d <= 0 {
		if d < 0 {
			return math.MaxUint64
		}
		return 0
	}
	ms := uint64(d / time.Millisecond)
	if d%time.Millisecond != 0 {
		ms++
	}
	return ms
}

func duration(field string, ms uint64) (time.Duration, error) {
	const most = uint64(math.MaxInt64 / int64(time.Millisecond))
	if ms > most {
		return 0, agent.Invalid(field, "%s is no duration: %d ms", field, ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
