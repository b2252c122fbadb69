package fork

import (
	"context"
	"fmt"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check judges each family separately. One ledger holds a fork and its origin, so they
// must agree. Check also judges that forks remain, and searches for one order of all
// calls.
func (*fork) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "fork", h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &forked{
			Ledger: workload.NewLedger(key, ops, f), in: map[int]forkCall{}, out: map[int]*forkSeen{},
			origin: map[string]originOfFork{}, floor: map[string]int{}, made: map[string]int{}, deletes: map[string][]int{},
		}
		if err := j.load(); err != nil {
			return err
		}
		for call := range ops {
			if seen := j.out[call]; seen != nil && seen.Incarnation > 0 && ops[call].Call != callDelete {
				j.place(call, seen)
			}
		}
		j.Settle()
		j.judgeLost()
		if !j.Disordered {
			j.judgeCalls()
		}
		return nil
	})
}

// forked is the history of one family. Calls are identified by their index in Ops;
// threads and sessions by kind, id and incarnation.
type forked struct {
	*workload.Ledger
	in      map[int]forkCall
	out     map[int]*forkSeen // answers
	origin  map[string]originOfFork
	floor   map[string]int   // :: fork of a thread → a call that shows its floor
	made    map[string]int   // :: kind and id of a fork → the call that tried to make it, refused or not
	deletes map[string][]int // :: kind and id → calls that may have deleted it
}

// originOfFork is the origin that a call shows for a fork.
type originOfFork struct {
	of   origin
	call int
}

func kindAndID(session bool, id string) string {
	if session {
		return "session " + id
	}
	return "thread " + id
}

func incarnationOf(session bool, id string, incarnation uint64) string {
	return fmt.Sprintf("%s in incarnation %d", kindAndID(session, id), incarnation)
}

func (j *forked) load() error {
	for call, op := range j.Ops {
		in, err := history.Decode[forkCall](op.In)
		if err != nil {
			return err
		}
		j.in[call] = in
		if op.Outcome == history.OK {
			seen, err := history.Decode[forkSeen](op.Out)
			if err != nil {
				return err
			}
			j.out[call] = &seen
		}
		switch {
		case op.Call == callFork:
			j.made[kindAndID(in.Session, in.New)] = call
		case op.Call == callDelete && op.Outcome != history.Refused:
			id := kindAndID(in.Session, in.ID)
			j.deletes[id] = append(j.deletes[id], call)
		case op.Call == workload.CallAppend || op.Call == workload.CallPut:
			j.Authored(call, "", in.Name) // the incarnation that it writes to is unknown
		}
		if seen := j.out[call]; seen != nil && seen.From != nil {
			j.loadOrigin(call, seen)
		}
	}
	return nil
}

// loadOrigin checks that a fork always has the requested origin.
func (j *forked) loadOrigin(call int, seen *forkSeen) {
	object := j.incarnation(call)
	before, known := j.origin[object]
	if !known {
		j.origin[object] = originOfFork{*seen.From, call}
		before = j.origin[object]
	}
	if before.of != *seen.From {
		j.Findings.Add("another origin", j.Key, j.Of(before.call, call), "%s found %s to be forked from %+v, and %s from %+v",
			workload.NameOf(j.Ops[before.call]), object, before.of, workload.NameOf(j.Ops[call]), *seen.From)
	}
	made, known := j.made[kindAndID(j.in[call].Session, j.subject(call))]
	if !known {
		return
	}
	if in := j.in[made]; in.ID != seen.From.ID || in.At != nil && *in.At != seen.From.Version {
		j.Findings.Add("another origin", j.Key, j.Of(made, call), "%s requested a fork of %s, and %s found it to be forked from %+v",
			workload.NameOf(j.Ops[made]), in.ID, workload.NameOf(j.Ops[call]), *seen.From)
	}
}

// subject returns the id of the object that a call's answer shows.
func (j *forked) subject(call int) string {
	if in := j.in[call]; j.Ops[call].Call == callFork {
		return in.New
	}
	return j.in[call].ID
}

func (j *forked) incarnation(call int) string {
	return incarnationOf(j.in[call].Session, j.subject(call), j.out[call].Incarnation)
}

// place determines which write made which version of which object.
func (j *forked) place(call int, seen *forkSeen) {
	in, name := j.in[call], workload.NameOf(j.Ops[call])
	id := j.subject(call)
	if isFork(id) {
		j.judgeMade(call, id)
	}
	switch {
	case j.Ops[call].Call == workload.CallAppend || j.Ops[call].Call == workload.CallPut:
		j.Saw(in.Name, j.incarnation(call), seen.Version, call)
		return
	case in.Session:
		j.placeSession(call, seen)
		return
	case j.Ops[call].Call == workload.CallRead && uint64(len(seen.Names)) != seen.Version-min(seen.Version, seen.Floor):
		j.Findings.Add("entries missing", j.Key, j.Of(call), "%s found a thread from seq %d to rev %d with %d entries", name, seen.Floor, seen.Version, len(seen.Names))
	}
	if isFork(id) {
		if seen.From == nil {
			j.Findings.Add("another origin", j.Key, j.Of(call), "%s found %s, which has no origin", name, j.incarnation(call))
		}
		first, known := j.floor[j.incarnation(call)]
		if !known {
			j.floor[j.incarnation(call)] = call
			first = call
		}
		if j.out[first].Floor != seen.Floor {
			j.Findings.Add("fork lost its prefix", j.Key, j.Of(first, call), "%s found %s from seq %d on, and %s from %d",
				workload.NameOf(j.Ops[first]), j.incarnation(call), j.out[first].Floor, name, seen.Floor)
		}
	}
	for i, entry := range seen.Names {
		seq := seen.Floor + uint64(i)
		if object, known := j.originalThread(id, seen.Incarnation, seq); known {
			j.Saw(entry, object, seq+1, call)
		}
	}
}

// judgeMade checks that a call requested the fork and was not refused.
func (j *forked) judgeMade(call int, id string) {
	made, known := j.made[kindAndID(j.in[call].Session, id)]
	switch {
	case !known:
		j.Findings.Add("fork from nowhere", j.Key, j.Of(call), "%s found %s, which no call tried to make", workload.NameOf(j.Ops[call]), j.incarnation(call))
	case j.Ops[made].Outcome == history.Refused:
		j.Findings.Add("fork from nowhere", j.Key, j.Of(made, call), "%s was refused (%s), and %s found %s",
			workload.NameOf(j.Ops[made]), j.Ops[made].Code, workload.NameOf(j.Ops[call]), j.incarnation(call))
	}
}

// placeSession adds the answer about a session. Nothing writes to the fork of a
// session, so the fork shows its origin's state.
func (j *forked) placeSession(call int, seen *forkSeen) {
	if len(seen.Names) == 0 {
		return
	}
	object, version := j.incarnation(call), seen.Version
	for isFork(j.subject(call)) {
		from, known := j.origin[object]
		if !known {
			j.Findings.Add("another origin", j.Key, j.Of(call), "%s found %s, which has no origin", workload.NameOf(j.Ops[call]), object)
			return
		}
		object, version = incarnationOf(true, from.of.ID, from.of.Incarnation), from.of.Version
		if !isFork(from.of.ID) {
			break
		}
		if _, known := j.origin[object]; !known {
			return // a fork of a fork that no call saw
		}
	}
	j.Saw(seen.Names[0], object, version, call)
}

// originalThread returns the thread that the entry visible at seq was originally
// appended to. It is unknown if a fork between the two was never seen.
func (j *forked) originalThread(id string, incarnation, seq uint64) (thread string, known bool) {
	for {
		thread = incarnationOf(false, id, incarnation)
		if !isFork(id) {
			return thread, true
		}
		from, known := j.origin[thread]
		switch {
		case !known:
			return "", false
		case seq >= from.of.Version:
			return thread, true
		}
		id, incarnation = from.of.ID, from.of.Incarnation
	}
}

// judgeLost checks that a fork which was seen, and which no call may have deleted,
// still exists.
func (j *forked) judgeLost() {
	seen := map[string]int{} // :: kind and id → the first returned call that shows it
	for call, op := range j.Ops {
		id := kindAndID(j.in[call].Session, j.subject(call))
		if out := j.out[call]; out == nil || out.Incarnation == 0 || op.Call == callDelete || !isFork(id) {
			continue
		}
		if first, known := seen[id]; !known || op.Return < j.Ops[first].Return {
			seen[id] = call
		}
	}
	for call, op := range j.Ops {
		id := kindAndID(j.in[call].Session, j.in[call].ID)
		first, known := seen[id]
		if out := j.out[call]; op.Call != workload.CallRead || out == nil || out.Incarnation > 0 || !known || j.Ops[first].Return > op.Invoke {
			continue
		}
		gone := false
		for _, del := range j.deletes[id] {
			gone = gone || j.Ops[del].Invoke < op.Return
		}
		if !gone {
			j.Findings.Add("fork lost", j.Key, j.Of(first, call), "%s found no %s, which %s had found or made, and which no call has deleted",
				workload.NameOf(op), id, workload.NameOf(j.Ops[first]))
		}
	}
}

// judgeCalls searches for one order of all calls by the versions that they made or
// found.
func (j *forked) judgeCalls() {
	transactions := map[int]*model.Transaction{}
	for call, op := range j.Ops {
		t, in, seen := &model.Transaction{}, j.in[call], j.out[call]
		switch op.Call {
		case workload.CallAppend, workload.CallPut:
			if object := j.FirstSeen[in.Name]; object != "" {
				t.Writes = append(t.Writes, model.Access{Object: object, Version: j.Object(object).Version[in.Name]})
			}
		case workload.CallRead:
			if seen != nil && seen.Incarnation > 0 && (!in.Session || !isFork(in.ID)) {
				t.Reads = append(t.Reads, model.Access{Object: j.incarnation(call), Version: seen.Version})
			}
		case callFork:
			if seen != nil {
				j.addFork(t, call)
			}
		}
		if len(t.Reads)+len(t.Writes)+len(t.Saw) > 0 {
			transactions[call] = t
		}
	}
	j.JudgeOrder(transactions)
}

// addFork adds the versions that an answered fork read and made.
func (j *forked) addFork(t *model.Transaction, call int) {
	from, known := j.origin[j.incarnation(call)]
	if !known {
		return
	}
	in := j.in[call]
	read := model.Access{Object: incarnationOf(in.Session, from.of.ID, from.of.Incarnation), Version: from.of.Version}
	switch {
	case in.Session && isFork(from.of.ID): // nothing writes to it
	case in.At == nil:
		t.Reads = append(t.Reads, read)
	default:
		t.Saw = append(t.Saw, read)
	}
	if !in.Session && from.of.Version > 0 {
		t.Writes = append(t.Writes, model.Access{Object: j.incarnation(call), Version: from.of.Version})
	}
}
