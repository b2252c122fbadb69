package workload

import (
	"math/rand/v2"
	"time"

	"dormouse/jepsen/history"
)

// soundRun makes up the history of a sound store: calls of several processes,
// each of which takes effect at one instant between its invocation and its
// return. A caller may give up first; then the call takes effect later, after
// the caller's next ones perhaps, or never.
type soundRun struct {
	r                *rand.Rand
	processes, calls int
	begin            func(process int) (call string, in any) // makes up a call
	apply            func(call string, in any) any           // makes it take effect; nil where it is refused
	heard            func(process int, out any)              // tells its process the answer, nil where there is none; may be nil
}

// underWay is a call that has not returned.
type underWay struct {
	op      history.Op
	in, out any
	applied bool
}

func (s soundRun) history(key string) *history.History {
	var all script
	var late []underWay // their callers have given up
	under := make([]underWay, s.processes)
	apply := func(u *underWay) { u.out, u.applied = s.apply(u.op.Call, u.in), true }
	hear := func(process int, out any) {
		if s.heard != nil {
			s.heard(process, out)
		}
	}
	for now := 1; len(all) < s.calls; now++ {
		if len(late) > 0 && s.r.IntN(10) == 0 {
			at := s.r.IntN(len(late))
			if s.r.IntN(2) == 0 {
				apply(&late[at])
			}
			late = append(late[:at], late[at+1:]...)
		}
		at := s.r.IntN(s.processes)
		u := &under[at]
		switch {
		case u.op.Call == "":
			*u = underWay{}
			u.op.Call, u.in = s.begin(at)
			u.op.Process, u.op.Key, u.op.In, u.op.Invoke = at, key, raw(u.in), time.Duration(now)
		case !u.applied && s.r.IntN(15) == 0:
			late, all = append(late, *u), append(all, unknown(u.op))
			u.op.Call = ""
			hear(at, nil)
		case !u.applied:
			apply(u)
		default:
			u.op.Return, u.op.Outcome = time.Duration(now), history.OK
			switch {
			case u.out == nil:
				u.op = refused(u.op, "conflict")
				hear(at, nil)
			case s.r.IntN(15) == 0:
				u.op = unknown(u.op) // its answer is lost
				hear(at, nil)
			default:
				u.op.Out = raw(u.out)
				hear(at, u.out)
			}
			all = append(all, u.op)
			u.op.Call = ""
		}
	}
	for _, u := range under {
		if u.op.Call != "" {
			all = append(all, unknown(u.op)) // the run ended first
		}
	}
	return all.history()
}
