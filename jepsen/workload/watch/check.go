package watch

import (
	"context"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check judges each thread separately. An incarnation of it is an object of the
// ledger, and its versions are its revs. So appends, reads and all watches must agree
// about every seq. A poll is a read that may lag: what it saw existed and stays.
func (*watch) Check(ctx context.Context, h *history.History) check.Result {
	faultFree := workload.FaultFreeOf(h)
	return workload.ByKey(ctx, "watch", h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &watched{
			Ledger: workload.NewLedger(key, ops, f), faultFree: faultFree, appends: map[int]*watchMade{}, loads: map[int]*loaded{},
			watches: map[int64]*followed{}, compacted: map[int]*compacted{}, deleted: map[int]uint64{},
		}
		if err := j.load(); err != nil {
			return err
		}
		j.place()
		for _, id := range j.order {
			j.judgeWatch(j.watches[id])
		}
		if !j.Disordered {
			j.judgeReads()
		}
		return nil
	})
}

// watched is the history of one thread. Calls are identified by their index in Ops.
type watched struct {
	*workload.Ledger
	faultFree workload.FaultFree
	appends   map[int]*watchMade
	loads     map[int]*loaded
	watches   map[int64]*followed
	order     []int64 // watches in order of their first polls
	compacted map[int]*compacted
	deleted   map[int]uint64 // :: delete that was not refused → the incarnation; 0 if unknown
}

type watchMade struct {
	in  watchAppend
	out *appended // nil if the call has no answer
}

// compacted is a compaction that was not refused.
type compacted struct {
	before      uint64
	incarnation uint64 // 0 if unknown
}

// followed is one watch with all its polls.
type followed struct {
	in          watchPoll
	incarnation uint64 // 0 if unknown
	polls       []int
	out         map[int]*polled
}

func (j *watched) load() (err error) {
	for call, op := range j.Ops {
		answered := op.Outcome == history.OK
		switch {
		case op.Call == "append":
			err = j.loadAppend(call, op)
		case op.Call == "load" && answered:
			var out loaded
			out, err = history.Decode[loaded](op.Out)
			j.loads[call] = &out
		case op.Call == "poll" && answered:
			err = j.loadPoll(call, op)
		case op.Call == "compact" && op.Outcome != history.Refused:
			c := &compacted{}
			if c.before, err = history.Decode[uint64](op.In); err == nil && answered {
				var out loaded
				out, err = history.Decode[loaded](op.Out)
				c.incarnation = out.Incarnation
			}
			j.compacted[call] = c
		case op.Call == "delete" && op.Outcome != history.Refused:
			j.deleted[call] = 0
			if answered {
				var incarnation uint64
				switch incarnation, err = history.Decode[uint64](op.Out); incarnation {
				case untold:
				case 0:
					delete(j.deleted, call) // the thread did not exist
				default:
					j.deleted[call] = incarnation
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *watched) loadAppend(call int, op history.Op) (err error) {
	made := &watchMade{}
	if made.in, err = history.Decode[watchAppend](op.In); err != nil {
		return err
	}
	if op.Outcome == history.OK {
		out, err := history.Decode[appended](op.Out)
		if err != nil {
			return err
		}
		made.out = &out
	}
	j.appends[call] = made
	for i := range made.in.Entries {
		j.Authored(call, "", made.in.name(i))
	}
	return nil
}

func (j *watched) loadPoll(call int, op history.Op) error {
	in, err := history.Decode[watchPoll](op.In)
	if err != nil {
		return err
	}
	out, err := history.Decode[polled](op.Out)
	if err != nil {
		return err
	}
	w := j.watches[in.Watch]
	if w == nil {
		w = &followed{in: in, incarnation: in.Incarnation, out: map[int]*polled{}}
		j.watches[in.Watch] = w
		j.order = append(j.order, in.Watch)
	}
	w.polls = append(w.polls, call)
	w.out[call] = &out
	return nil
}

// place determines the seq and the incarnation of each entry.
func (j *watched) place() {
	for call, op := range j.Ops {
		if made := j.appends[call]; made != nil && made.out != nil {
			if made.out.Rev != made.out.Seq+uint64(made.in.Entries) {
				j.Findings.Add("torn append", j.Key, j.Of(call), "%s put %d entries at seq %d of a thread that was at rev %d after it",
					workload.NameOf(op), made.in.Entries, made.out.Seq, made.out.Rev)
			}
			for i := range made.in.Entries {
				j.Saw(made.in.name(i), workload.IncarnationName(made.out.Incarnation), made.out.Seq+uint64(i)+1, call)
			}
		}
		if there := j.loads[call]; there != nil {
			j.judgeLoad(call, there)
			for i, name := range there.Entries {
				j.Saw(name, workload.IncarnationName(there.Incarnation), there.Rev-uint64(len(there.Entries))+uint64(i)+1, call)
			}
		}
	}
	// Watches come last. The incarnation of a watch that named none follows from an
	// entry whose seq is known.
	for _, named := range []bool{true, false} {
		for _, id := range j.order {
			if w := j.watches[id]; (w.in.Incarnation > 0) == named {
				j.placeWatch(w)
			}
		}
	}
	j.Settle()
}

func (j *watched) placeWatch(w *followed) {
	for _, call := range w.polls {
		for _, name := range w.out[call].Entries {
			if w.incarnation == 0 {
				w.incarnation = workload.IncarnationOf(j.FirstSeen[name])
			}
		}
	}
	if w.incarnation == 0 {
		return // no entry came, or no other call saw one of them
	}
	for _, call := range w.polls {
		for i, name := range w.out[call].Entries {
			j.Saw(name, workload.IncarnationName(w.incarnation), w.out[call].Seqs[i]+1, call)
		}
	}
}

// judgeReads searches for one order of appends, reads and polls that explains them
// all.
func (j *watched) judgeReads() {
	transactions := map[int]*model.Transaction{}
	for call, made := range j.appends {
		last := made.in.name(made.in.Entries - 1)
		if object, seen := j.FirstSeen[last]; seen {
			transactions[call] = &model.Transaction{Writes: []model.Access{{Object: object, Version: j.Object(object).Version[last]}}}
		}
	}
	for call, there := range j.loads {
		if there.Incarnation > 0 {
			transactions[call] = &model.Transaction{Reads: []model.Access{{Object: workload.IncarnationName(there.Incarnation), Version: there.Rev}}}
		}
	}
	for _, w := range j.watches {
		for _, call := range w.polls {
			if seqs := w.out[call].Seqs; len(seqs) > 0 && w.incarnation > 0 {
				transactions[call] = &model.Transaction{Saw: []model.Access{{Object: workload.IncarnationName(w.incarnation), Version: seqs[len(seqs)-1] + 1}}}
			}
		}
	}
	j.JudgeOrder(transactions)
}
