package timer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

const anAlarm = alarmPrefix + "1"

func TestTimerFindsEachWrong(t *testing.T) {
	sets := func(at int, name string, due int64) history.Op {
		return workloadtest.OK(1, at, at+10, callSet, anAlarm, timerCall{Name: name, At: due}, timersSeen{})
	}
	every := workloadtest.OK(1, 10, 20, callSet, anAlarm, timerCall{Name: "e", Every: true}, timersSeen{})
	again := func(at int, name, id string, due int64) history.Op {
		return workloadtest.OK(1, at, at+10, callSet, anAlarm, timerCall{Name: name, Again: id, At: due}, timersSeen{})
	}
	cancels := func(at int, name string, existed bool) history.Op {
		return workloadtest.OK(2, at, at+10, callCancel, anAlarm, timerCall{Name: name}, timersSeen{Existed: existed})
	}
	untold := workloadtest.OK(2, 30, 40, callCancel, anAlarm, timerCall{Name: "a"}, timersSeen{Untold: true})
	fired := func(names ...string) (seen timersSeen) {
		for _, name := range names {
			seen.Fired = append(seen.Fired, timerFired{Name: name, At: 6000})
		}
		return seen
	}
	pends := func(seen timersSeen, p timerSeen) timersSeen {
		seen.Pending = append(seen.Pending, p)
		return seen
	}
	read := func(call string, seen timersSeen) history.Op {
		return workloadtest.OK(3, 90, 100, call, anAlarm, timerCall{}, seen)
	}
	seconds := timerSeen{Name: "e", Every: true, Set: 2500, Next: 5000} // 3000 and 4000 have passed
	shifted := []history.Event{{Kind: history.EventFault, Name: "clock", Step: 1}}
	entries := func(name string, at ...int64) (seen timersSeen) {
		for _, at := range at {
			seen.Fired = append(seen.Fired, timerFired{Name: name, At: at})
		}
		return seen
	}
	reads := func(at int, seen timersSeen) history.Op {
		return workloadtest.OK(3, at, at+10, workload.CallRead, anAlarm, timerCall{}, seen)
	}
	first := timerSeen{Name: "e", Every: true, Set: 2500, Next: 3000}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
		events     []history.Event
	}{
		{"fired", "", workloadtest.Script{sets(10, "a", 5000), read(callFinal, fired("a"))}, nil},
		{"cancelled", "", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", true), cancels(50, "a", false), read(callFinal, fired())}, nil},
		{"cancelled too late", "", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", false), read(callFinal, fired("a"))}, nil},
		{"cancelled without a word", "", workloadtest.Script{sets(10, "a", 5000), untold, cancels(50, "a", false), read(callFinal, fired())}, nil},
		{"cancelled without a word, too late", "", workloadtest.Script{sets(10, "a", 5000), untold, read(callFinal, fired("a"))}, nil},
		{"cancelled without a word, and set again", "", workloadtest.Script{sets(10, "a", 5000), untold, again(50, "b", "a", 5500), read(workload.CallRead, pends(fired(), timerSeen{Name: "a", Next: 5500})), workloadtest.OK(3, 110, 120, callFinal, anAlarm, timerCall{}, fired("b"))}, nil},
		{"cancelled without a word, and pends", "cancelled but pending", workloadtest.Script{sets(10, "a", 5000), untold, read(workload.CallRead, pends(fired(), timerSeen{Name: "a", Next: 5000}))}, nil},
		{"cancelled, and pends", "cancelled but pending", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", true), read(workload.CallRead, pends(fired(), timerSeen{Name: "a", Next: 5000}))}, nil},
		{"perhaps cancelled", "", workloadtest.Script{sets(10, "a", 5000), workloadtest.Unknown(cancels(30, "a", true)), cancels(50, "a", false), read(callFinal, fired())}, nil},
		{"perhaps set", "", workloadtest.Script{workloadtest.Unknown(sets(10, "a", 5000)), workloadtest.Unknown(sets(10, "b", 5000)), read(callFinal, fired("a"))}, nil},
		{"every second", "", workloadtest.Script{every, read(callFinal, pends(fired("e", "e"), seconds))}, nil},
		{"every second, before it was reckoned", "", workloadtest.Script{every, read(callFinal, pends(fired(), timerSeen{Name: "e", Every: true, Set: 2500}))}, nil},
		{"every second, and the clock jumped", "", workloadtest.Script{every, read(callFinal, pends(fired("e"), seconds))}, shifted},
		{"replaced, and fired", "", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), read(callFinal, fired("b"))}, nil},
		{"fired, replaced, and fired", "", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), read(callFinal, fired("a", "b"))}, nil},
		{"replaced, and cancelled", "", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), cancels(50, "a", true), read(callFinal, fired())}, nil},
		{"cancelled while it was replaced", "", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), cancels(35, "a", true), read(callFinal, fired())}, nil},
		{"cancelled, and replaced", "", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", true), again(50, "b", "a", 5500), read(callFinal, fired("b"))}, nil},
		{"not replaced", "", workloadtest.Script{sets(10, "a", 5000), workloadtest.Refused(again(30, "b", "a", 5500), "overloaded"), read(callFinal, fired("a"))}, nil},
		{"replaced, and fired at the old time", "fired early", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 9000), read(workload.CallRead, fired("b"))}, nil},
		{"replaced, and lost", "occurrence lost", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), read(callFinal, fired("a"))}, nil},
		{"the older set fires last", "fired after it was replaced", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 5500), read(workload.CallRead, fired("b", "a"))}, nil},
		{"never fired", "occurrence lost", workloadtest.Script{sets(10, "a", 5000), read(callFinal, fired())}, nil},
		{"never fired, and pends", "occurrence lost", workloadtest.Script{sets(10, "a", 5000), read(callFinal, pends(fired(), timerSeen{Name: "a", Next: 5000}))}, nil},
		{"gone, and nobody cancelled it", "occurrence lost", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", false), read(callFinal, fired())}, nil},
		{"fired twice", "fired twice", workloadtest.Script{sets(10, "a", 5000), read(workload.CallRead, fired("a", "a"))}, nil},
		{"fired, and to fire again", "fired and not acknowledged", workloadtest.Script{sets(10, "a", 5000), read(workload.CallRead, pends(fired("a"), timerSeen{Name: "a", Next: 5000}))}, nil},
		{"fired early", "fired early", workloadtest.Script{sets(10, "a", 7000), read(workload.CallRead, fired("a"))}, nil},
		{"cancelled and fired", "cancelled but fired", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", true), read(workload.CallRead, fired("a"))}, nil},
		{"cancelled by two", "cancelled twice", workloadtest.Script{sets(10, "a", 5000), cancels(30, "a", true), cancels(50, "a", true)}, nil},
		{"refused and fired", "refused but fired", workloadtest.Script{workloadtest.Refused(sets(10, "a", 5000), "overloaded"), read(workload.CallRead, fired("a"))}, nil},
		{"fired from nowhere", "fired from nowhere", workloadtest.Script{sets(10, "a", 5000), read(workload.CallRead, fired("x"))}, nil},
		{"a timer from nowhere", "timer from nowhere", workloadtest.Script{sets(10, "a", 5000), read(workload.CallRead, pends(fired("a"), timerSeen{Name: "x"}))}, nil},
		{"a second twice", "fired twice", workloadtest.Script{every, read(workload.CallRead, pends(fired("e", "e", "e"), seconds))}, shifted},
		{"a second lost", "occurrence lost", workloadtest.Script{every, read(workload.CallRead, pends(fired("e"), seconds))}, nil},
		{"every second, and cancelled", "", workloadtest.Script{every, cancels(30, "e", true), reads(50, fired("e", "e")), reads(70, fired("e", "e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, read while it is cancelled", "", workloadtest.Script{every, reads(25, pends(fired(), first)), cancels(30, "e", true), reads(36, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, and perhaps cancelled", "", workloadtest.Script{every, workloadtest.Unknown(cancels(30, "e", true)), reads(50, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, and a cancel refused", "", workloadtest.Script{every, workloadtest.Refused(cancels(30, "e", true), "overloaded"), reads(50, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, perhaps, after a cancel", "", workloadtest.Script{workloadtest.Unknown(every), cancels(30, "e", false), reads(50, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, set while it is cancelled", "", workloadtest.Script{every, cancels(15, "e", false), reads(50, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, fired late", "", workloadtest.Script{every, reads(30, pends(fired(), first)), read(callFinal, entries("e", 5900, 5900, 5900))}, nil},
		{"every second, fired late, and the clock jumped", "", workloadtest.Script{every, reads(30, pends(fired(), first)), read(callFinal, entries("e", 3000, 90000))}, shifted},
		{"every second, in time", "", workloadtest.Script{every, reads(30, pends(fired(), first)), read(callFinal, entries("e", 3000, 4000, 5000))}, nil},
		{"every second, cancelled, and fires on", "cancelled but fired", workloadtest.Script{every, cancels(30, "e", true), reads(50, fired("e", "e", "e")), read(callFinal, fired("e", "e", "e", "e"))}, nil},
		{"every second, perhaps set, cancelled, and fires on", "cancelled but fired", workloadtest.Script{workloadtest.Unknown(every), cancels(30, "e", true), reads(50, fired("e")), read(callFinal, fired("e", "e"))}, nil},
		{"every second, cancelled twice, and fires between", "cancelled but fired", workloadtest.Script{every, cancels(30, "e", true), reads(45, fired("e")), reads(60, fired("e", "e")), cancels(95, "e", false)}, nil},
		{"every second, cancelled, and one is gone", "occurrence lost", workloadtest.Script{every, cancels(30, "e", true), reads(50, fired("e", "e")), read(callFinal, fired("e"))}, nil},
		{"a second twice, and cancelled", "fired early", workloadtest.Script{every, reads(25, pends(fired(), first)), cancels(40, "e", true), read(callFinal, entries("e", 3010, 3020, 4010))}, nil},
		{"a second twice, cancelled, and the clock jumped", "fired early", workloadtest.Script{every, reads(25, pends(fired(), first)), cancels(40, "e", true), read(callFinal, entries("e", 3010, 3020))}, shifted},
		{"a second twice, read before it pends", "fired early", workloadtest.Script{every, reads(30, entries("e", 3010, 3020)), read(workload.CallRead, pends(entries("e", 3010, 3020), seconds))}, nil},
		{"seconds before they are due", "fired early", workloadtest.Script{every, read(workload.CallRead, pends(entries("e", 2600, 2600), seconds))}, nil},
		{"replaced, not fired, and the old one fires", "fired after it was replaced", workloadtest.Script{sets(10, "a", 5000), again(30, "b", "a", 9000), reads(50, pends(fired(), timerSeen{Name: "a", Next: 9000})), read(workload.CallRead, pends(fired("a"), timerSeen{Name: "a", Next: 9000}))}, nil},
		{"fired, and replaced", "", workloadtest.Script{sets(10, "a", 5000), reads(25, pends(fired(), timerSeen{Name: "a", Next: 5000})), again(30, "b", "a", 5500), reads(36, fired("a")), read(callFinal, fired("a", "b"))}, nil},
		{"perhaps replaced, and the old one fires", "", workloadtest.Script{sets(10, "a", 5000), workloadtest.Unknown(again(30, "b", "a", 9000)), reads(50, pends(fired(), timerSeen{Name: "a", Next: 5000})), read(callFinal, fired("a"))}, nil},
		{"not replaced, and the old one fires", "", workloadtest.Script{sets(10, "a", 5000), workloadtest.Refused(again(30, "b", "a", 9000), "overloaded"), reads(50, pends(fired(), timerSeen{Name: "a", Next: 5000})), read(callFinal, fired("a"))}, nil},
		{"cancelled, replaced, and the old one fires", "cancelled but fired", workloadtest.Script{sets(10, "a", 5000), cancels(21, "a", false), again(32, "b", "a", 9000), reads(50, pends(fired(), timerSeen{Name: "a", Next: 9000})), read(workload.CallRead, fired("a"))}, nil},
		{"cancelled without a word, and fires later", "cancelled but fired", workloadtest.Script{sets(10, "a", 5000), untold, reads(50, fired()), read(callFinal, fired("a"))}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := workloadtest.Judged(t, New(), c.calls.History(c.events...))
			workloadtest.Expect(t, r, c.rule)
		})
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
	unread := workloadtest.Script{sets(10, "a", 5000), read(workload.CallRead, pends(fired(), timerSeen{Name: "a", Next: 5000}))}
	if r := workloadtest.Judged(t, New(), unread.History()); r.Verdict != check.Unknown || len(r.Findings) > 0 {
		t.Errorf("without a last read it is %s: %v", r.Verdict, workloadtest.Details(r))
	}
}

// store is a correct store of one instance's timers.
type store struct {
	r       *rand.Rand
	now     int64
	pending map[string]*timerSeen // :: id
	names   map[string]string     // :: id → name of the newest set
	fired   []timerFired
}

func (s *store) do(call string, in any) any {
	s.now += s.r.Int64N(40)
	if call == callFinal || s.r.IntN(3) == 0 {
		s.fire()
	}
	switch c := in.(timerCall); {
	case call == callSet && s.r.IntN(20) == 0:
		return nil
	case call == callSet:
		s.names[c.id()] = c.Name
		s.pending[c.id()] = &timerSeen{Name: c.id(), Every: c.Every, Next: c.At, Set: s.now}
		if c.Every {
			s.pending[c.Name].Next = (s.now/1000 + 1) * 1000
		}
	case call == callCancel:
		_, existed := s.pending[c.Name]
		delete(s.pending, c.Name)
		if s.r.IntN(2) == 0 {
			return timersSeen{Untold: true}
		}
		return timersSeen{Existed: existed}
	}
	seen := timersSeen{Fired: slices.Clone(s.fired)}
	for _, name := range slices.Sorted(maps.Keys(s.pending)) {
		seen.Pending = append(seen.Pending, *s.pending[name])
	}
	return seen
}

// fire fires due timers, in time or late.
func (s *store) fire() {
	for _, name := range slices.Sorted(maps.Keys(s.pending)) {
		for t := s.pending[name]; t != nil && t.Next <= s.now; t = s.pending[name] {
			s.fired = append(s.fired, timerFired{Name: s.names[name], At: s.now})
			if t.Next += 1000; !t.Every {
				delete(s.pending, name)
			}
		}
	}
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{r: rand.New(rand.NewPCG(seed, 19)), now: 1_700_000_000_500, pending: map[string]*timerSeen{}, names: map[string]string{}}
	n := 0
	var set []string
	own, last := map[int]string{}, map[int]string{} // :: process → its timer, and its newest set
	run := workloadtest.SoundRun{R: s.r, Processes: processes, Calls: calls, Apply: s.do}
	run.Begin = func(process int) (string, any) {
		n++
		switch draw := s.r.IntN(20); {
		case draw < 4 && own[process] != "" && s.names[own[process]] == last[process]: // the set before was applied
			last[process] = fmt.Sprint("t", n)
			return callSet, timerCall{Name: last[process], Again: own[process], At: s.now + s.r.Int64N(500)}
		case draw < 8:
			set = append(set, fmt.Sprint("t", n))
			own[process], last[process] = set[len(set)-1], set[len(set)-1]
			return callSet, timerCall{Name: own[process], At: s.now + s.r.Int64N(500)}
		case draw == 8:
			set = append(set, fmt.Sprint("e", n))
			return callSet, timerCall{Name: set[len(set)-1], Every: true}
		case draw < 13 && len(set) > 0:
			return callCancel, timerCall{Name: set[len(set)-1-s.r.IntN(min(len(set), alarmsNewest))]}
		default:
			return workload.CallRead, timerCall{}
		}
	}
	h := run.History(anAlarm)
	end := workloadtest.Script(h.Ops).End()
	s.now += 2 * time.Second.Milliseconds() // all timers that fire once are due; recurring ones have fired some more times
	final := workloadtest.OK(99, end, end+1, callFinal, anAlarm, timerCall{}, s.do(callFinal, timerCall{}))
	return append(workloadtest.Script(h.Ops), final).History()
}

func TestTimerPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 100) }
	workloadtest.TellsApart(t, New, run, 20, spoilTimer)
}

// spoilTimer removes an occurrence from the last read, or repeats one, and describes
// the change.
func spoilTimer(r *rand.Rand, h *history.History) string {
	acknowledged := map[string]bool{}
	for _, op := range h.Ops {
		if in, err := history.Decode[timerCall](op.In); err == nil && op.Call == callSet && op.Outcome == history.OK {
			acknowledged[in.Name] = in.Again == ""
		}
		if in, err := history.Decode[timerCall](op.In); err == nil && op.Call == callSet {
			delete(acknowledged, in.Again)
		}
		if in, err := history.Decode[timerCall](op.In); err == nil && op.Call == callCancel {
			delete(acknowledged, in.Name)
		}
	}
	op := &h.Ops[len(h.Ops)-1]
	seen, err := history.Decode[timersSeen](op.Out)
	if err != nil {
		panic(err)
	}
	for _, at := range r.Perm(len(seen.Fired)) {
		e := seen.Fired[at]
		if e.Name[0] != 't' || !acknowledged[e.Name] {
			continue
		}
		if r.IntN(2) == 0 {
			seen.Fired = append(seen.Fired, e)
			op.Out = workloadtest.Raw(seen)
			return "an occurrence twice"
		}
		seen.Fired = slices.Delete(seen.Fired, at, at+1)
		op.Out = workloadtest.Raw(seen)
		return "an occurrence less"
	}
	return ""
}

func BenchmarkTimerCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 200) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named(alarmPrefix), run))
}
