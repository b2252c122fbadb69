package deletes

import (
	"context"
	"math"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check judges each id separately. First it goes through the calls in real time: an
// incarnation that is known to be deleted stays deleted, one that is known to exist
// does not vanish, and seals hold. Then it searches for one order of all calls:
// revisions of an incarnation are consecutive, a delete ends it, and the next one has
// a greater number.
func (*deletion) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "delete", h, func(key string, ops []history.Op, f *workload.Findings) error {
		m := &idHistory{Ledger: workload.NewLedger(key, ops, f), puts: map[int]deletePut{}, deletes: map[int]deleteCall{}, seen: map[int]deleteSeen{}}
		if err := m.load(); err != nil {
			return err
		}
		m.place()
		m.judgeIncarnations()
		m.judgeSeals()
		m.judgeLog()
		if !m.Disordered {
			m.judgeVersions()
		}
		return nil
	})
}

// idHistory is the history of one id. Calls are identified by their index in Ops.
type idHistory struct {
	*workload.Ledger
	puts    map[int]deletePut
	deletes map[int]deleteCall
	seen    map[int]deleteSeen // calls with an answer
}

func (m *idHistory) load() (err error) {
	for call, op := range m.Ops {
		switch op.Call {
		case "put":
			m.puts[call], err = history.Decode[deletePut](op.In)
			m.Authored(call, "", m.puts[call].Name)
		case "delete":
			m.deletes[call], err = history.Decode[deleteCall](op.In)
		}
		if err != nil {
			return err
		}
		if op.Outcome == history.OK {
			seen, err := history.Decode[deleteSeen](op.Out)
			if err != nil {
				return err
			}
			if meant := m.deletes[call].Incarnation; seen.Untold && meant > 0 { // otherwise it would be refused
				seen.Incarnation, seen.Untold = meant, false
			}
			m.seen[call] = seen
		}
	}
	return nil
}

// place determines which write made which revision, and checks that each call did what
// it asked for.
func (m *idHistory) place() {
	for call, op := range m.Ops {
		seen, answered := m.seen[call]
		if !answered {
			continue
		}
		put, isPut := m.puts[call]
		del, isDelete := m.deletes[call]
		meant := put.Incarnation + del.Incarnation
		switch {
		case meant > 0 && seen.Incarnation != meant:
			m.Findings.Add("another incarnation", m.Key, m.Of(call), "%s required incarnation %d and found %d", workload.NameOf(op), meant, seen.Incarnation)
		case put.New && seen.Revision != 1:
			m.Findings.Add("expectation ignored", m.Key, m.Of(call), "%s required that the object does not exist, and made revision %d", workload.NameOf(op), seen.Revision)
		}
		switch {
		case isPut:
			m.Saw(put.Name, workload.IncarnationName(seen.Incarnation), seen.Revision, call)
		case !isDelete && seen.Incarnation > 0:
			m.Saw(seen.Name, workload.IncarnationName(seen.Incarnation), seen.Revision, call)
		}
	}
	m.Settle()
}

// instant is a version of the id: a revision of an incarnation, or the incarnation's
// end.
type instant struct{ incarnation, revision uint64 }

const itsEnd = math.MaxUint64

func (a instant) before(b instant) bool {
	return a.incarnation < b.incarnation || a.incarnation == b.incarnation && a.revision < b.revision
}

// instants returns the version of each call that took effect and found or left
// something.
func (m *idHistory) instants() map[int]instant {
	all := map[int]instant{}
	for call := range m.Ops {
		seen, answered := m.seen[call]
		if put, isPut := m.puts[call]; isPut && !answered {
			object := m.FirstSeen[put.Name] // it was seen, whatever answer its caller got
			answered, seen.Incarnation, seen.Revision = object != "", workload.IncarnationOf(object), m.Object(object).Version[put.Name]
		}
		switch _, isDelete := m.deletes[call]; {
		case !answered || seen.Incarnation == 0:
		case isDelete:
			all[call] = instant{seen.Incarnation, itsEnd}
		default:
			all[call] = instant{seen.Incarnation, seen.Revision}
		}
	}
	return all
}

// judgeVersions searches for one order of all calls that took effect.
func (m *idHistory) judgeVersions() {
	at := m.instants()
	ordered := make([]instant, 0, len(at))
	for _, one := range at {
		ordered = append(ordered, one)
	}
	slices.SortFunc(ordered, func(a, b instant) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0
	})
	ordered = slices.Compact(ordered)
	version := make(map[instant]uint64, len(ordered))
	for i, one := range ordered {
		version[one] = uint64(i) + 1
	}
	transactions, ends := map[int]*model.Transaction{}, map[instant]int{}
	for call := range m.Ops {
		one, known := at[call]
		if !known {
			continue
		}
		access := []model.Access{{Object: m.Key, Version: version[one]}}
		_, isPut := m.puts[call]
		_, isDelete := m.deletes[call]
		if !isPut && !isDelete {
			transactions[call] = &model.Transaction{Reads: access}
			continue
		}
		transactions[call] = &model.Transaction{Writes: access}
		if other, twice := ends[one]; twice && isDelete {
			m.Findings.Add("deleted twice", m.Key, m.Of(other, call), "%s and %s deleted incarnation %d", workload.NameOf(m.Ops[other]), workload.NameOf(m.Ops[call]), one.incarnation)
			return // an order cannot have a version with two writers
		}
		ends[one] = call
	}
	m.JudgeOrder(transactions)
}
