package client

import "sync/atomic"

// Stats counts what a client did to get its calls through.
type Stats struct {
	Retries uint64 // attempts after a call's first
	Settled uint64 // commits of which an attempt may or may not have applied, and whose true outcome is known now
}

// Stats counts since the client was made.
func (c *Client) Stats() Stats {
	return Stats{Retries: c.retries.Load(), Settled: c.settled.Load()}
}

// counters are what Stats shows.
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
