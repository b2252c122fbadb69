package model

import "fmt"

// ClaimCall is a call on a claim, or under one: a Call's In. Its Out is any
// value that is not nil.
type ClaimCall struct {
	Name   string
	Epoch  uint64 // of the holding that it began or found to stand; 0 says nothing of any
	Begins bool   // the holding
	Ends   bool   // the holding
}

// claimState is a claim in the middle of a search: how far its epochs have
// come. Time, by which a holding lapses, is not in it.
type claimState struct {
	epoch uint64
	ended bool // somebody released it
}

// Claims is a claim as a Linear: epochs only grow, and nothing is done under a
// holding before it began, after it was released or once a newer one began. A
// holding that nobody is known to have begun may have begun any time.
func Claims() Linear {
	return Linear{
		Init: claimState{},
		Any:  claimState{},
		Search: func([]Call) func(state, in, out any) (any, bool) {
			return func(state, in, out any) (any, bool) { return state.(claimState).step(in.(*ClaimCall), out != nil) }
		},
		Effect: func(in, _ any) bool { return in.(*ClaimCall).Begins || in.(*ClaimCall).Ends },
		Tells:  func(in, _ any) bool { return in.(*ClaimCall).Epoch > 0 },
		Describe: func(in, out any) string {
			call := in.(*ClaimCall)
			switch {
			case call.Epoch == 0 && out == nil:
				return call.Name + ", without an answer"
			case call.Epoch == 0:
				return call.Name
			case call.Begins:
				return fmt.Sprintf("%s: epoch %d begins", call.Name, call.Epoch)
			case call.Ends:
				return fmt.Sprintf("%s: epoch %d ends", call.Name, call.Epoch)
			}
			return fmt.Sprintf("%s under epoch %d", call.Name, call.Epoch)
		},
	}
}

// step is the state after a call, and whether the call can be made there.
// Without an answer it may have had no effect.
func (s claimState) step(call *ClaimCall, answered bool) (claimState, bool) {
	switch {
	case !answered || call.Epoch == 0:
		return s, true
	case call.Epoch < s.epoch, call.Epoch == s.epoch && (call.Begins || s.ended):
		return s, false
	}
	return claimState{epoch: call.Epoch, ended: call.Ends}, true
}
