package model

// RegisterCall is a call on a register: the In of a Call.
type RegisterCall struct {
	Name string
	RegisterIn
}

// registerState is the state of a register during a search.
type registerState struct {
	Register
	answered int // calls with an answer that took place so far
}

// Registers returns Register as a Linear. The Out of a Call is a *RegisterOut.
func Registers() Linear {
	return Linear{
		Init:   registerState{},
		Any:    registerState{Register: Register{Any: true}},
		Search: searchRegister,
		Effect: func(in, out any) bool {
			answer := registerOut(out)
			return in.(*RegisterCall).Name != RegisterGet && (answer == nil || answer.Refused == "")
		},
		Tells: func(in, out any) bool {
			call := in.(*RegisterCall)
			_, all := Told(call.Name, call.RegisterIn, registerOut(out))
			return all
		},
		Describe: func(in, out any) string {
			call := in.(*RegisterCall)
			return DescribeRegister(call.Name, call.RegisterIn, registerOut(out))
		},
	}
}

// registerOut returns the answer, or nil if it is unknown.
func registerOut(out any) *RegisterOut {
	if out == nil {
		return nil
	}
	return out.(*RegisterOut)
}

// searchRegister returns the step for a search among calls. It delays an unknown call
// until its effect can explain an answer, or until all answers are explained.
// Otherwise each unknown call would double the search.
func searchRegister(calls []Call) func(state, in, out any) (any, bool) {
	seen := witness(calls)
	return func(state, in, out any) (any, bool) {
		s, call := state.(registerState), in.(*RegisterCall)
		next, ok := s.Apply(call.Name, call.RegisterIn, registerOut(out))
		switch {
		case out != nil:
			return registerState{next, s.answered + 1}, ok
		case s.answered == seen.answered:
			return s, true
		default:
			return registerState{next, s.answered}, seen.serves(s.Register, next)
		}
	}
}
