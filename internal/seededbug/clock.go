package seededbug

import "time"

// NodeClock returns the time of this node's clock in Unix milliseconds, for guarded lines of
// packages that must not read a clock.
func NodeClock() int64 { return time.Now().UnixMilli() }
