package fork

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

func TestForkFindsEachWrong(t *testing.T) {
	const key, one, two = "fork1", "fork1/1", "fork1/2"
	add := func(at int, id, name string, incarnation, rev uint64) history.Op {
		return workloadtest.OK(1, at, at+10, workload.CallAppend, key, forkCall{ID: id, Name: name}, forkSeen{Incarnation: incarnation, Version: rev})
	}
	put := func(at int, name string, incarnation, revision uint64) history.Op {
		return workloadtest.OK(1, at, at+10, workload.CallPut, key, forkCall{Session: true, ID: key, Name: name, Revision: revision - 1}, forkSeen{Incarnation: incarnation, Version: revision})
	}
	from := func(id string, incarnation, version uint64) *origin { return &origin{id, incarnation, version} }
	forks := func(at int, id string, incarnation uint64, of *origin) history.Op {
		return workloadtest.OK(2, at, at+10, callFork, key, forkCall{ID: of.ID, New: id}, forkSeen{Incarnation: incarnation, Version: of.Version, From: of})
	}
	forksSession := func(at int, of, id string, incarnation uint64) history.Op {
		return workloadtest.OK(2, at, at+10, callFork, key, forkCall{Session: true, ID: of, New: id}, forkSeen{Incarnation: incarnation, Version: 1})
	}
	read := func(at int, id string, incarnation uint64, of *origin, names ...string) history.Op {
		return workloadtest.OK(3, at, at+10, workload.CallRead, key, forkCall{ID: id}, forkSeen{Incarnation: incarnation, Version: uint64(len(names)), From: of, Names: names})
	}
	readSession := func(at int, id string, incarnation, revision uint64, of *origin, name string) history.Op {
		return workloadtest.OK(3, at, at+10, workload.CallRead, key, forkCall{Session: true, ID: id}, forkSeen{Incarnation: incarnation, Version: revision, From: of, Names: []string{name}})
	}
	gone := func(at int, id string) history.Op {
		return workloadtest.OK(3, at, at+10, workload.CallRead, key, forkCall{ID: id}, forkSeen{})
	}
	deleted := func(at int, id string, session bool) history.Op {
		return workloadtest.OK(4, at, at+10, callDelete, key, forkCall{ID: id, Session: session}, forkSeen{Incarnation: 1})
	}
	base := workloadtest.Script{add(10, key, "a", 5, 1), add(30, key, "b", 5, 2), forks(50, one, 7, from(key, 5, 2))}
	after := func(calls ...history.Op) workloadtest.Script { return append(base.Copied(), calls...) }
	sessions := workloadtest.Script{put(10, "a", 5, 1), forksSession(30, key, one, 7), put(50, "b", 5, 2)}
	afterSessions := func(calls ...history.Op) workloadtest.Script { return append(sessions.Copied(), calls...) }
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"both go on", "", after(add(70, key, "c", 5, 3), add(70, one, "d", 7, 3), read(90, one, 7, from(key, 5, 2), "a", "b", "d"), read(90, key, 5, nil, "a", "b", "c"))},
		{"the first one is deleted and made anew", "", after(deleted(70, key, false), add(90, key, "c", 9, 1), read(110, one, 7, from(key, 5, 2), "a", "b"), read(110, key, 9, nil, "c"))},
		{"a fork of a fork", "", after(add(70, one, "c", 7, 3), forks(90, two, 8, from(one, 7, 3)), read(110, two, 8, from(one, 7, 3), "a", "b", "c"))},
		{"an unknown fork", "", append(base[:2:2], workloadtest.Unknown(base[2]), read(70, one, 7, from(key, 5, 2), "a", "b"))},
		{"a fork that is deleted", "", after(deleted(70, one, false), gone(90, one))},
		{"an unknown append in a fork", "", workloadtest.Script{base[0], workloadtest.Unknown(add(30, key, "b", 0, 0)), forks(50, one, 7, from(key, 5, 2)), read(70, one, 7, from(key, 5, 2), "a", "b")}},
		{"sessions", "", afterSessions(readSession(70, one, 7, 1, from(key, 5, 1), "a"), readSession(70, key, 5, 2, nil, "b"))},
		{"a session's fork of a fork", "", afterSessions(forksSession(70, one, two, 8), deleted(90, key, true), readSession(110, one, 7, 1, from(key, 5, 1), "a"), readSession(110, two, 8, 1, from(one, 7, 1), "a"))},
		{"a fork that follows", "applied twice", after(deleted(70, key, false), add(90, key, "c", 9, 1), read(110, one, 7, from(key, 5, 2), "c", "b"))},
		{"a fork that moves on", "another origin", after(add(70, key, "c", 5, 3), read(90, one, 7, from(key, 5, 3), "a", "b", "b"))},
		{"another order", "two histories", after(read(70, one, 7, from(key, 5, 2), "b", "a"))},
		{"an entry in both", "applied twice", after(add(70, key, "c", 5, 3), read(90, one, 7, from(key, 5, 2), "a", "b", "c"))},
		{"an entry from nowhere", "written by no call", after(read(70, one, 7, from(key, 5, 2), "a", "x"))},
		{"a fork's entry that was refused", "refused but applied", workloadtest.Script{base[0], workloadtest.Refused(add(30, key, "b", 0, 0), "conflict"), forks(50, one, 7, from(key, 5, 2)), read(70, one, 7, from(key, 5, 2), "a", "b")}},
		{"a fork that lost its beginning", "fork lost its prefix", after(workloadtest.OK(3, 70, 80, workload.CallRead, key, forkCall{ID: one}, forkSeen{Incarnation: 7, Version: 2, Floor: 1, From: from(key, 5, 2), Names: []string{"b"}}))},
		{"a fork without its entries", "entries missing", after(workloadtest.OK(3, 70, 80, workload.CallRead, key, forkCall{ID: one}, forkSeen{Incarnation: 7, Version: 2, From: from(key, 5, 2), Names: []string{"a"}}))},
		{"a fork that is gone", "fork lost", after(deleted(70, key, false), gone(90, one))},
		{"a fork of something else", "another origin", after(workloadtest.OK(3, 70, 80, workload.CallRead, key, forkCall{ID: one}, forkSeen{Incarnation: 7, Version: 1, From: from(key, 9, 1), Names: []string{"a"}}))},
		{"a fork at another rev", "another origin", workloadtest.Script{base[0], base[1], workloadtest.OK(2, 50, 60, callFork, key, forkCall{ID: key, New: one, At: new(uint64)}, forkSeen{Incarnation: 7, Version: 2, From: from(key, 5, 2)})}},
		{"a stale fork", "lost or stale", workloadtest.Script{base[0], base[1], forks(50, one, 7, from(key, 5, 1))}},
		{"a fork of what comes later", "read from the future", workloadtest.Script{base[0], forks(30, one, 7, from(key, 5, 2)), add(50, key, "b", 5, 2)}},
		{"a stale read of a fork", "lost or stale", after(add(70, one, "c", 7, 3), read(90, one, 7, from(key, 5, 2), "a", "b"))},
		{"a session that follows", "two histories", afterSessions(readSession(70, one, 7, 1, from(key, 5, 1), "b"), readSession(90, key, 5, 2, nil, "b"))},
		{"a session from nowhere", "written by no call", afterSessions(readSession(70, one, 7, 1, from(key, 5, 1), "{}"))},
		{"a fork that tells no origin", "another origin", append(base[:2:2], workloadtest.Unknown(base[2]), read(70, one, 7, nil, "a", "b"))},
		{"a fork that was refused", "fork from nowhere", append(base[:2:2], workloadtest.Refused(base[2], "compacted"), read(70, one, 7, from(key, 5, 2), "a", "b"))},
		{"a fork that nobody was to make", "fork from nowhere", after(read(70, two, 7, from(key, 5, 2), "a", "b"))},
		{"a session's fork that was refused", "fork from nowhere", append(sessions[:1:1], workloadtest.Refused(sessions[1], "conflict"), readSession(70, one, 7, 1, from(key, 5, 1), "a"))},
		{"a session without an origin", "another origin", afterSessions(readSession(70, one, 7, 1, nil, "a"))},
		{"a session that is gone", "fork lost", afterSessions(deleted(70, key, true), workloadtest.OK(3, 90, 100, workload.CallRead, key, forkCall{ID: one, Session: true}, forkSeen{}))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one family.
type store struct {
	index        uint64
	incarnations map[string]*forkIncarnation // :: kind and id → the current object
}

type forkIncarnation struct {
	seen  forkSeen // with all names, including those below the floor
	floor uint64
}

func (s *store) do(call string, in any) any {
	c := in.(forkCall)
	s.index++
	id := kindAndID(c.Session, c.ID)
	one := s.incarnations[id]
	if call == workload.CallRead {
		if one == nil {
			return forkSeen{Index: s.index}
		}
		out := one.seen
		out.Index, out.Floor = s.index, one.floor
		out.Names = slices.Clone(one.seen.Names[one.floor:])
		return out
	}
	if one == nil && (call == workload.CallAppend && c.Incarnation == 0 || call == workload.CallPut && c.Revision == 0) {
		one = &forkIncarnation{seen: forkSeen{Incarnation: s.index}}
		s.incarnations[id] = one
	}
	if one == nil || c.Incarnation > 0 && c.Incarnation != one.seen.Incarnation {
		return nil
	}
	n := &one.seen
	switch call {
	case workload.CallAppend:
		n.Version++
		n.Names = append(slices.Clone(n.Names), c.Name)
	case workload.CallPut:
		if n.Version != c.Revision {
			return nil
		}
		n.Version++
		n.Names = []string{c.Name}
	case callCompact:
		if c.Before > n.Version || c.Before < one.floor {
			return nil
		}
		one.floor = c.Before
	case callDelete:
		delete(s.incarnations, id)
		return forkSeen{Index: s.index, Incarnation: n.Incarnation}
	case callFork:
		return s.fork(c, one)
	}
	return forkSeen{Index: s.index, Incarnation: n.Incarnation, Version: n.Version, From: n.From, Floor: one.floor}
}

func (s *store) fork(c forkCall, of *forkIncarnation) any {
	at := of.seen.Version
	if c.At != nil {
		at = *c.At
	}
	if at > of.seen.Version || at < of.floor {
		return nil
	}
	made := &forkIncarnation{floor: of.floor, seen: forkSeen{Incarnation: s.index, From: &origin{c.ID, of.seen.Incarnation, at}}}
	made.seen.Version, made.seen.Names = at, slices.Clone(of.seen.Names)
	if c.Session {
		made.seen.Version = 1
	} else {
		made.seen.Names = made.seen.Names[:at]
	}
	s.incarnations[kindAndID(c.Session, c.New)] = made
	out := forkSeen{Index: s.index, Incarnation: s.index, Version: made.seen.Version, Floor: made.floor}
	if !c.Session {
		out.From = made.seen.From
	}
	return out
}

func storeHistory(seed uint64, processes, calls int) *history.History {
	const key = "fork1"
	s := &store{incarnations: map[string]*forkIncarnation{}}
	r := rand.New(rand.NewPCG(seed, 17))
	n := 0
	made := map[bool][]string{}
	run := workloadtest.SoundRun{R: r, Processes: processes, Calls: calls, Apply: s.do}
	some := func(session bool) string {
		if all := made[session]; len(all) > 0 && r.IntN(3) > 0 {
			return all[len(all)-1-r.IntN(min(len(all), forksOpen))]
		}
		return key
	}
	run.Begin = func(int) (string, any) {
		n++
		name := fmt.Sprint(n)
		switch draw := r.IntN(100); {
		case draw < 30:
			return workload.CallAppend, forkCall{ID: key, Name: name}
		case draw < 40:
			in := forkCall{ID: some(false), Name: name}
			if one := s.incarnations[kindAndID(false, in.ID)]; one != nil {
				in.Incarnation = one.seen.Incarnation
				return workload.CallAppend, in
			}
			return workload.CallRead, in
		case draw < 48:
			in := forkCall{ID: key, Session: true, Name: name}
			if one := s.incarnations[kindAndID(true, key)]; one != nil {
				in.Revision = one.seen.Version
			}
			return workload.CallPut, in
		case draw < 65:
			in := forkCall{ID: some(draw < 55), Session: draw < 55, New: key + mark + name}
			if at := uint64(r.IntN(10)); !in.Session && r.IntN(2) == 0 {
				in.At = &at
			}
			made[in.Session] = append(made[in.Session], in.New)
			return callFork, in
		case draw < 70:
			return callCompact, forkCall{ID: key, Before: uint64(r.IntN(20))}
		case draw < 74:
			return callDelete, forkCall{ID: some(draw < 72), Session: draw < 72}
		default:
			return workload.CallRead, forkCall{ID: some(draw < 82), Session: draw < 82}
		}
	}
	return run.History(key)
}

func TestForkPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 300) }
	workloadtest.TellsApart(t, New, run, 18, spoilFork)
}

// spoilFork gives a read of a fork the entry of another thread at the same seq, and
// describes the change.
func spoilFork(r *rand.Rand, h *history.History) string {
	for _, at := range r.Perm(len(h.Ops)) {
		op := &h.Ops[at]
		in, err := history.Decode[forkCall](op.In)
		if err != nil {
			panic(err)
		}
		if op.Call != workload.CallRead || op.Outcome != history.OK || !isFork(in.ID) {
			continue
		}
		seen, err := history.Decode[forkSeen](op.Out)
		if err != nil {
			panic(err)
		}
		if n := len(seen.Names); n > 1 && !in.Session {
			seen.Names[0] = seen.Names[1]
			op.Out = workloadtest.Raw(seen)
			return fmt.Sprintf("an entry of another seq in call %d", op.ID)
		}
	}
	return ""
}

func BenchmarkForkCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 1000) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("f"), run))
}
