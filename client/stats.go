package client

import "sync/atomic"

// Stats counts the client's retries.
type Stats struct {
	Retries uint64 // attempts after the first one of a call
	Settled uint64 // commits with an unknown attempt whose outcome was learned later
}

// Stats returns the counts since Dial.
func (c *Client) Stats() Stats {
	return Stats{Retries: c.retries.Load(), Settled: c.settled.Load()}
}

// counters are the counters behind Stats.
type counters struct {
	retries, settled atomic.Uint64
}

// count counts a call that ended with o. The call's mu is held.
func (c *counters) count(k *call, o *outcome) {
	if k.attempts > 1 {
		c.retries.Add(uint64(k.attempts - 1))
	}
	if k.commit != nil && k.undecided && (o.err == nil || o.err.Final) {
		c.settled.Add(1)
	}
}
