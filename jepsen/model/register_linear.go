package model

// RegisterCall is what was called on a register: a Call's In.
type RegisterCall struct {
	Name string
	RegisterIn
}

// registerState is a register in the middle of a search.
type registerState struct {
	Register
	answered int // calls with an answer that were made so far
}

// Registers is Register as a Linear; a Call's Out is a *RegisterOut.
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

// registerOut is an answer; nil where it is not known.
func registerOut(out any) *RegisterOut {
	if out == nil {
		return nil
	}
	return out.(*RegisterOut)
}

// searchRegister is the Step for a search among calls. An unknown call waits
// until its effect can serve to explain some answer, or until all are
// explained; otherwise each of them would double the search.
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
