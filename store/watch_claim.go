package store

import "dormouse/agent"

// standing is the state of one watch of a claim.
type standing struct {
	store *Store
	watch agent.Watch
	told  bool
	epoch uint64 // of the last yielded holding; 0 for none
}

// page yields the holder of the claim, unless it was yielded before.
func (s *standing) page(yield func(agent.Event, error) bool) bool {
	view := s.store.o.Machine.View()
	claim, err := view.Claim(s.watch.Scope, s.watch.Claim)
	view.Close()
	switch {
	case err != nil:
		yield(agent.Event{}, err)
		return false
	case s.told && s.epoch == claim.Epoch:
		return true
	}
	s.told, s.epoch = true, claim.Epoch
	return yield(agent.Event{Kind: agent.EventClaim, Claim: claim}, nil)
}
