package workloadtest

import (
	"math/rand/v2"
	"time"

	"dormouse/jepsen/history"
)

// SoundRun makes up the history of a sound store: calls of several processes,
// each of which takes effect at one instant between its invocation and its
// return. A caller may give up first; then the call takes effect later, after
// the caller's next ones perhaps, or never.
type SoundRun struct {
	R                *rand.Rand
	Processes, Calls int
	Begin            func(process int) (call string, in any) // makes up a call
	Apply            func(call string, in any) any           // makes it take effect; nil where it is refused
	Heard            func(process int, out any)              // gives its process the answer, nil if there was no answer; may be nil
}

// underWay is a call that has not returned.
type underWay struct {
	op      history.Op
	in, out any
	applied bool
}

// History returns a history of calls on key.
func (s SoundRun) History(key string) *history.History {
	var all Script
	var late []underWay // their callers have given up
	under := make([]underWay, s.Processes)
	apply := func(u *underWay) { u.out, u.applied = s.Apply(u.op.Call, u.in), true }
	hear := func(process int, out any) {
		if s.Heard != nil {
			s.Heard(process, out)
		}
	}
	for now := 1; len(all) < s.Calls; now++ {
		if len(late) > 0 && s.R.IntN(10) == 0 {
			at := s.R.IntN(len(late))
			if s.R.IntN(2) == 0 {
				apply(&late[at])
			}
			late = append(late[:at], late[at+1:]...)
		}
		at := s.R.IntN(s.Processes)
		u := &under[at]
		switch {
		case u.op.Call == "":
			*u = underWay{}
			u.op.Call, u.in = s.Begin(at)
			u.op.Process, u.op.Key, u.op.In, u.op.Invoke = at, key, Raw(u.in), time.Duration(now)
		case !u.applied && s.R.IntN(15) == 0:
			late, all = append(late, *u), append(all, Unknown(u.op))
			u.op.Call = ""
			hear(at, nil)
		case !u.applied:
			apply(u)
		default:
			u.op.Return, u.op.Outcome = time.Duration(now), history.OK
			switch {
			case u.out == nil:
				u.op = Refused(u.op, "conflict")
				hear(at, nil)
			case s.R.IntN(15) == 0:
				u.op = Unknown(u.op) // its answer is lost
				hear(at, nil)
			default:
				u.op.Out = Raw(u.out)
				hear(at, u.out)
			}
			all = append(all, u.op)
			u.op.Call = ""
		}
	}
	for _, u := range under {
		if u.op.Call != "" {
			all = append(all, Unknown(u.op)) // the run ended first
		}
	}
	return all.History()
}
