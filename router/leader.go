package router

import "context"

// Follow tells the peers of each new leader until ctx ends, and has reads that
// wait for another's answer ask the new one. Without it, a leader that is cut off
// would be waited for until its connection is found dead.
func (r *Router) Follow(ctx context.Context) error {
	for {
		changed := r.group.LeaderChanged() // taken before the look
		if _, addr := r.group.Leader(); addr != "" {
			r.peers.Leads(addr)
			r.mu.Lock()
			if r.asked != addr {
				r.forsake()
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

// toAsk is the address of who leads now, "" where nobody is known; forsake is
// called when another does.
func (r *Router) toAsk(forsake context.CancelFunc) (addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, addr = r.group.Leader()
	r.asked, r.forsake = addr, forsake
	return addr
}
