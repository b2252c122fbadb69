package deletes

import (
	"cmp"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// standing is the state of an id that the returned calls prove at a moment of the run.
type standing struct {
	newest instant // the newest known version
	by     int     // the call that shows it
	dead   uint64  // all incarnations up to this one are deleted
	killer int     // the call that shows that
	index  uint64  // the highest index of the log in an answer
	reader int     // the call that shows that
}

// learn adds a call that has returned. If the call found nothing, buried is the
// incarnation that it proved to be deleted.
func (s *standing) learn(call int, at instant, buried, index uint64) {
	if s.newest.before(at) {
		s.newest, s.by = at, call
	}
	dead := buried
	switch {
	case at.revision == itsEnd:
		dead = max(dead, at.incarnation)
	case at.incarnation > 0:
		dead = max(dead, at.incarnation-1)
	}
	if dead > s.dead {
		s.dead, s.killer = dead, call
	}
	if index > s.index {
		s.index, s.reader = index, call
	}
}

// judgeIncarnations judges the calls in order of real time.
func (m *idHistory) judgeIncarnations() {
	var s standing
	at, buried := m.instants(), map[int]uint64{}
	returned := make([]int, len(m.Ops))
	for call := range m.Ops {
		returned[call] = call
	}
	slices.SortStableFunc(returned, func(a, b int) int { return cmp.Compare(m.Ops[a].Return, m.Ops[b].Return) })
	for call, op := range m.Ops { // by invocation
		for ; m.Ops[returned[0]].Return < op.Invoke; returned = returned[1:] {
			if done := returned[0]; m.Ops[done].Outcome == history.OK {
				s.learn(done, at[done], buried[done], m.seen[done].Index)
			}
		}
		switch {
		case op.Outcome == history.OK:
			m.judgeIncarnation(call, at[call], s)
			if at[call].incarnation == 0 {
				buried[call] = s.newest.incarnation
			}
		case op.Code == string(agent.CodeDeleted):
			m.judgeRefusal(call, s)
		}
	}
}

// judgeIncarnation judges what a call found, given what was proved before it began.
func (m *idHistory) judgeIncarnation(call int, at instant, s standing) {
	name := workload.NameOf(m.Ops[call])
	alive := s.newest.incarnation > 0 && s.newest.revision != itsEnd
	switch {
	case at.incarnation > 0 && at.incarnation <= s.dead:
		m.Findings.Add("brought back", m.Key, m.Of(s.killer, call), "%s found incarnation %d, which was deleted, as %s shows",
			name, at.incarnation, workload.NameOf(m.Ops[s.killer]))
	case alive && (at.incarnation == 0 || at.incarnation > s.newest.incarnation) && !m.mayBeGone(s.newest.incarnation, call):
		m.Findings.Add("vanished", m.Key, m.Of(s.by, call), "%s found %s, but incarnation %d existed, as %s shows, and no call had deleted it",
			name, workload.IncarnationName(at.incarnation), s.newest.incarnation, workload.NameOf(m.Ops[s.by]))
	}
	if index := m.seen[call].Index; index < s.index {
		m.Findings.Add("index went back", m.Key, m.Of(s.reader, call), "%s is of index %d, and %s, which had returned, of index %d",
			name, index, workload.NameOf(m.Ops[s.reader]), s.index)
	}
}

// mayBeGone reports whether a call may have deleted an incarnation before the call by
// returned.
func (m *idHistory) mayBeGone(incarnation uint64, by int) bool {
	for call, del := range m.deletes {
		if m.Ops[call].Invoke >= m.Ops[by].Return || del.Incarnation != 0 && del.Incarnation != incarnation {
			continue
		}
		if m.Ops[call].Outcome == history.Unknown || m.seen[call].Incarnation == incarnation || m.seen[call].Untold {
			return true
		}
	}
	return false
}

// judgeRefusal checks that a write is refused as deleted only if its incarnation may
// be deleted, or the id may be sealed.
func (m *idHistory) judgeRefusal(call int, s standing) {
	meant := m.puts[call].Incarnation + m.deletes[call].Incarnation
	alive := s.newest == instant{meant, s.newest.revision} && s.newest.revision != itsEnd
	switch {
	case meant == 0 && !m.mayBeSealed(call):
		m.Findings.Add("refused for no reason", m.Key, m.Of(call), "%s was refused as deleted, and no call had sealed the id", workload.NameOf(m.Ops[call]))
	case meant > 0 && alive && !m.mayBeGone(meant, call):
		m.Findings.Add("refused for no reason", m.Key, m.Of(s.by, call), "%s was refused as deleted, and incarnation %d was there, as %s shows",
			workload.NameOf(m.Ops[call]), meant, workload.NameOf(m.Ops[s.by]))
	}
}

func (m *idHistory) mayBeSealed(by int) bool {
	for call, del := range m.deletes {
		if del.Seal > 0 && m.Ops[call].Outcome != history.Refused && m.Ops[call].Invoke < m.Ops[by].Return {
			return true
		}
	}
	return false
}

// judgeSeals checks that an id accepts no write while it is sealed, by the log's time.
func (m *idHistory) judgeSeals() {
	for sealer, del := range m.deletes {
		seal, answered := m.seen[sealer]
		if del.Seal == 0 || !answered {
			continue
		}
		for call := range m.puts {
			put, answered := m.seen[call]
			if !answered {
				continue
			}
			// An answer without the log's time shows only the start of the seal.
			within := seal.Time > 0 && put.Index > seal.Index && put.Time < seal.Time+del.Seal.Milliseconds()
			// The longest seal is longer than any run, whatever steps the clock makes.
			ever := del.Seal == sealForever && m.Ops[sealer].Return < m.Ops[call].Invoke
			if within || ever {
				m.Findings.Add("broken seal", m.Key, m.Of(sealer, call), "%s sealed the id for %v at %s, and %s wrote to it at %s",
					workload.NameOf(m.Ops[sealer]), del.Seal, logTime(seal.Time), workload.NameOf(m.Ops[call]), logTime(put.Time))
			}
		}
	}
}

func logTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05.000") }

// judgeLog checks that the log's time never decreases.
func (m *idHistory) judgeLog() {
	var writes []int
	for call, seen := range m.seen {
		if seen.Time > 0 {
			writes = append(writes, call)
		}
	}
	slices.SortFunc(writes, func(a, b int) int { return cmp.Compare(m.seen[a].Index, m.seen[b].Index) })
	for i := 1; i < len(writes); i++ {
		if before, after := m.seen[writes[i-1]], m.seen[writes[i]]; after.Time < before.Time {
			m.Findings.Add("time ran back", m.Key, m.Of(writes[i-1], writes[i]), "the log's time was %s at index %d, and %s at index %d",
				logTime(before.Time), before.Index, logTime(after.Time), after.Index)
		}
	}
}
