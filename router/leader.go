package router

import "context"

// Follow tells the peers the address of each new leader until ctx ends, and makes waiting reads ask
// the new leader. Without it, calls would wait for an unreachable leader until its connection times
// out.
func (r *Router) Follow(ctx context.Context) error {
	for {
		changed := r.group.LeaderChanged() // taken before the leader is read
		if _, addr := r.group.Leader(); addr != "" {
			r.peers.Leads(addr)
			r.mu.Lock()
			if r.asked != addr {
				r.cancelRound()
			}
			r.mu.Unlock()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// toAsk returns the address of the current leader, "" if unknown. cancelRound is called when the
// leader changes.
func (r *Router) toAsk(cancelRound context.CancelFunc) (addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, addr = r.group.Leader()
	r.asked, r.cancelRound = addr, cancelRound
	return addr
}
