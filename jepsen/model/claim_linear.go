package model

import "fmt"

// ClaimCall is a call on a claim, or under one: the In of a Call. Its Out is any value
// but nil.
type ClaimCall struct {
	Name   string
	Epoch  uint64 // epoch of the holding that the call began or found; 0 if the answer names none
	Begins bool   // the call begins the holding
	Ends   bool   // the call ends the holding
}

// claimState is the state of a claim during a search: its newest epoch. Holdings also
// end by time, which the model leaves out.
type claimState struct {
	epoch uint64
	ended bool // released by a call
}

// Claims returns a claim as a Linear. Epochs only grow. No call succeeds under a
// holding before it began, after its release, or after a newer one began. A holding
// whose beginning is not in the history may have begun at any time.
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

// step returns the state after a call and whether the call is possible in s. A call
// without an answer may have had no effect.
func (s claimState) step(call *ClaimCall, answered bool) (claimState, bool) {
	switch {
	case !answered || call.Epoch == 0:
		return s, true
	case call.Epoch < s.epoch, call.Epoch == s.epoch && (call.Begins || s.ended):
		return s, false
	}
	return claimState{epoch: call.Epoch, ended: call.Ends}, true
}
