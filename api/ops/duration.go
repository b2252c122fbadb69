package ops

import (
	"math"
	"time"

	"dormouse/agent"
)

// Millis returns d in milliseconds, rounded up, since a TTL of 0 means never. A negative
// d becomes a number that Duration refuses.
func Millis(d time.Duration) uint64 {
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

// Duration returns ms milliseconds. If that overflows, the error names field.
func Duration(field string, ms uint64) (time.Duration, error) {
	const most = uint64(math.MaxInt64 / int64(time.Millisecond))
	if ms > most {
		return 0, agent.Invalid(field, "%s is no duration: %d ms", field, ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
