package turn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/workloadtest"
)

// turnOf is a commit of two objects: an entry on t0, and c0 with a pointer to it.
func turnOf(by string) turnCommit {
	return turnCommit{
		By: by, Appends: []turnAppend{{Thread: "t0", Entries: 1}},
		Puts: []turnPut{{Checkpoint: "c0"}},
	}
}

func turnAt(index, seq, revision uint64) committed {
	return committed{Index: index, Seqs: [][]uint64{{seq}}, Revisions: []uint64{revision}}
}

// seen is the answer of a read of t0 and c0.
func seen(index uint64, entries []string, revision uint64, by string) turnState {
	s := turnState{Index: index, Threads: map[string]turnThread{}, Checkpoints: map[string]turnCheckpoint{}}
	if len(entries) > 0 {
		s.Threads["t0"] = turnThread{Rev: uint64(len(entries)), By: entries}
	}
	if revision > 0 {
		s.Checkpoints["c0"] = turnCheckpoint{Revision: revision, By: by}
	}
	return s
}

func TestTurnFindsEachWrong(t *testing.T) {
	rev0, rev1 := uint64(0), uint64(1)
	commit := func(process, invoke, ret int, in turnCommit, out any) history.Op {
		return workloadtest.OK(process, invoke, ret, "commit", "g", in, out)
	}
	read := func(process, invoke, ret int, out turnState) history.Op {
		return workloadtest.OK(process, invoke, ret, "read", "g", turnAsk{}, out)
	}
	stale := func(process, invoke, ret int, out turnState) history.Op {
		return workloadtest.OK(process, invoke, ret, "read", "g", turnAsk{Stale: true}, out)
	}
	pointed := turnOf("a")
	pointed.Puts[0].Pointer = &turnPointer{"t0", 1}
	expecting := turnOf("a")
	expecting.Appends[0].Rev = &rev1
	expecting.Puts[0].Revision = &rev0
	two := turnCommit{By: "a", Appends: []turnAppend{{Thread: "t0", Entries: 2}}}
	cases := []struct {
		name, rule string
		calls      workloadtest.Script
	}{
		{"one after the other", "", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), read(2, 2, 3, seen(6, []string{"a.0"}, 1, "a")),
			commit(1, 4, 5, turnOf("b"), turnAt(7, 1, 2)), read(2, 6, 7, seen(7, []string{"a.0", "b.0"}, 2, "b")),
		}},
		{"an unknown commit may have applied", "", workloadtest.Script{
			workloadtest.Unknown(commit(1, 0, 1, turnOf("a"), nil)), read(2, 2, 3, seen(6, []string{"a.0"}, 1, "a")),
		}},
		{"or apply later", "", workloadtest.Script{
			workloadtest.Unknown(commit(1, 0, 1, turnOf("a"), nil)), read(2, 2, 3, seen(6, nil, 0, "")), read(2, 8, 9, seen(9, []string{"a.0"}, 1, "a")),
		}},
		{"a refused commit leaves nothing", "", workloadtest.Script{
			workloadtest.Refused(commit(1, 0, 1, expecting, nil), "conflict"), read(2, 2, 3, seen(6, nil, 0, "")),
		}},
		{"a stale read is of the past", "", workloadtest.Script{commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), stale(2, 2, 3, seen(4, nil, 0, ""))}},
		{"half a commit in a stale read", "half a commit", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), stale(2, 2, 3, seen(5, nil, 1, "a")),
		}},
		{"a stale read that says another index", "index out of order", workloadtest.Script{commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), stale(2, 2, 3, seen(5, nil, 0, ""))}},
		{"refused, and there", "refused but applied", workloadtest.Script{
			workloadtest.Refused(commit(1, 0, 1, expecting, nil), "conflict"), read(2, 2, 3, seen(6, []string{"a.0"}, 1, "a")),
		}},
		{"refused, and half there", "half a commit", workloadtest.Script{
			workloadtest.Refused(commit(1, 0, 1, expecting, nil), "conflict"), read(2, 2, 3, seen(6, []string{"a.0"}, 0, "")),
		}},
		{"entry without checkpoint", "half a commit", workloadtest.Script{
			commit(1, 0, 9, turnOf("a"), turnAt(5, 0, 1)), read(2, 2, 3, seen(6, []string{"a.0"}, 0, "")),
		}},
		{"unknown and torn", "half a commit", workloadtest.Script{
			workloadtest.Unknown(commit(1, 0, 1, turnOf("a"), nil)), read(2, 2, 3, seen(6, nil, 1, "a")),
		}},
		{"half of an append", "half a commit", workloadtest.Script{
			commit(1, 0, 9, two, committed{Index: 5, Seqs: [][]uint64{{0, 1}}}), read(2, 2, 3, seen(6, []string{"a.0"}, 0, "")),
		}},
		{"entries apart", "torn append", workloadtest.Script{
			commit(1, 0, 1, two, committed{Index: 5, Seqs: [][]uint64{{0, 2}}}), commit(1, 0, 1, turnOf("b"), turnAt(5, 1, 1)),
		}},
		{"an append that applied twice", "applied twice", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), read(2, 2, 3, seen(6, []string{"a.0", "a.0"}, 1, "a")),
		}},
		{"a put that applied twice", "applied twice", workloadtest.Script{
			workloadtest.Unknown(commit(1, 0, 1, turnOf("a"), nil)), read(2, 2, 3, seen(6, []string{"a.0"}, 1, "a")), read(2, 2, 3, seen(6, []string{"a.0"}, 2, "a")),
		}},
		{"two entries at one seq", "two histories", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), commit(2, 2, 3, turnOf("b"), turnAt(6, 0, 2)),
		}},
		{"two writers of a revision", "two histories", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), commit(2, 2, 3, turnOf("b"), turnAt(6, 1, 1)),
		}},
		{"an entry without a call", "written by no call", workloadtest.Script{read(2, 2, 3, seen(6, []string{"x"}, 0, ""))}},
		{"a lost commit", "lost or stale", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), read(2, 2, 3, seen(4, nil, 0, "")),
		}},
		{"a read of what is yet to come", "read from the future", workloadtest.Script{
			read(2, 0, 1, seen(9, []string{"a.0"}, 1, "a")), commit(1, 2, 3, turnOf("a"), turnAt(5, 0, 1)),
		}},
		{"seen and unseen again", "no order in real time explains it", workloadtest.Script{
			workloadtest.Unknown(commit(1, 0, 1, turnOf("a"), nil)), read(2, 2, 3, seen(6, []string{"a.0"}, 1, "a")), read(3, 4, 5, seen(5, nil, 0, "")),
		}},
		{"commits that cross", "no order explains it", workloadtest.Script{
			commit(1, 0, 9, turnOf("a"), turnAt(5, 0, 2)), commit(2, 0, 9, turnOf("b"), turnAt(5, 1, 1)),
		}},
		{"commits out of order", "written out of order", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 1, 2)), commit(2, 2, 3, turnOf("b"), turnAt(5, 0, 1)),
		}},
		{"an expectation that was not held", "expectation ignored", workloadtest.Script{
			commit(1, 0, 1, expecting, turnAt(5, 0, 1)),
		}},
		{"a pointer ahead of its thread", "pointer without its entries", workloadtest.Script{
			commit(1, 0, 9, pointed, turnAt(5, 0, 1)),
			read(2, 2, 3, turnState{Index: 6, Checkpoints: map[string]turnCheckpoint{"c0": {1, "a", &turnPointer{"t0", 1}}}}),
		}},
		{"a pointer that nobody put", "another pointer", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)),
			read(2, 2, 3, turnState{
				Index: 6, Threads: map[string]turnThread{"t0": {1, []string{"a.0"}}},
				Checkpoints: map[string]turnCheckpoint{"c0": {1, "a", &turnPointer{"t0", 1}}},
			}),
		}},
		{"a tail that is too short", "entries missing", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), commit(1, 2, 3, turnOf("b"), turnAt(6, 1, 2)),
			read(2, 4, 5, turnState{
				Index: 6, Threads: map[string]turnThread{"t0": {2, []string{"b.0"}}}, Checkpoints: map[string]turnCheckpoint{"c0": {2, "b", nil}},
			}),
		}},
		{"a read that says another index", "index out of order", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), read(2, 2, 3, seen(4, []string{"a.0"}, 1, "a")),
		}},
		{"a commit that says another index", "index out of order", workloadtest.Script{
			commit(1, 0, 1, turnOf("a"), turnAt(5, 0, 1)), commit(1, 2, 3, turnOf("b"), turnAt(4, 1, 2)),
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { workloadtest.Expect(t, workloadtest.Judged(t, New(), c.calls.History()), c.rule) })
	}
	workloadtest.GivesUp(t, New(), cases[0].calls.History())
}

// store is a correct store of one group, and the answers to its clients.
type store struct {
	r       *rand.Rand
	index   uint64
	sealed  bool // the state at this index was read: no more commits at it
	threads map[string][]string
	puts    map[string]turnCheckpoint
}

// storeHistory returns a random run of a correct store.
func storeHistory(seed uint64, processes, calls int) *history.History {
	s := &store{index: 1, r: rand.New(rand.NewPCG(seed, 3)), threads: map[string][]string{}, puts: map[string]turnCheckpoint{}}
	w, last := &turn{}, make([]*turnState, processes)
	return workloadtest.SoundRun{
		R: s.r, Processes: processes, Calls: calls,
		Begin: func(process int) (string, any) {
			if s.r.IntN(2) == 0 {
				return "read", turnAsk{Tail: tail}
			}
			return "commit", w.draw(&workload.Process{ID: process, Rand: s.r}, last[process])
		},
		Apply: func(_ string, in any) any {
			if c, is := in.(turnCommit); is {
				return s.commit(c)
			}
			return s.read()
		},
		Heard: func(process int, out any) {
			if state, is := out.(turnState); is {
				last[process] = &state
			}
		},
	}.History("g")
}

func (s *store) read() turnState {
	s.sealed = true
	state := turnState{Index: s.index, Threads: map[string]turnThread{}, Checkpoints: map[string]turnCheckpoint{}}
	for name, entries := range s.threads {
		state.Threads[name] = turnThread{uint64(len(entries)), slices.Clone(entries[max(len(entries)-tail, 0):])}
	}
	for name, c := range s.puts {
		state.Checkpoints[name] = c
	}
	return state
}

// commit returns the answer of a commit, or nil if it is refused.
func (s *store) commit(in turnCommit) any {
	for _, a := range in.Appends {
		if a.Rev != nil && *a.Rev != uint64(len(s.threads[a.Thread])) {
			return nil
		}
	}
	for _, put := range in.Puts {
		if put.Revision != nil && *put.Revision != s.puts[put.Checkpoint].Revision {
			return nil
		}
	}
	if s.sealed || s.r.IntN(2) == 0 { // commits may share a log entry
		s.index++
		s.sealed = false
	}
	out := committed{Index: s.index}
	for _, a := range in.Appends {
		var seqs []uint64
		for i := range a.Entries {
			seqs = append(seqs, uint64(len(s.threads[a.Thread])))
			s.threads[a.Thread] = append(s.threads[a.Thread], in.entry(i))
		}
		out.Seqs = append(out.Seqs, seqs)
	}
	for _, put := range in.Puts {
		c := turnCheckpoint{s.puts[put.Checkpoint].Revision + 1, in.By, put.Pointer}
		s.puts[put.Checkpoint] = c
		out.Revisions = append(out.Revisions, c.Revision)
	}
	return out
}

// TestTurnPassesSoundRuns also checks that one changed answer is found.
func TestTurnPassesSoundRuns(t *testing.T) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 1+int(seed%9), 200) }
	workloadtest.TellsApart(t, New, run, 4, spoilTurn)
}

// spoilTurn makes one answer wrong and describes the change.
func spoilTurn(r *rand.Rand, h *history.History) string {
	var reads []int
	for i, op := range h.Ops {
		if op.Call == "read" && op.Outcome == history.OK && i > len(h.Ops)/2 {
			reads = append(reads, i)
		}
	}
	if len(reads) < 10 {
		return ""
	}
	at := reads[r.IntN(len(reads))]
	state, err := history.Decode[turnState](h.Ops[at].Out)
	if err != nil {
		panic(err)
	}
	what := ""
	switch r.IntN(4) {
	case 0: // one thread in its initial state
		state.Threads["t1"] = turnThread{}
		what = "an empty thread"
	case 1: // the whole group in its initial state
		state = turnState{Index: 1}
		what = "an empty group"
	case 2:
		c := state.Checkpoints["c0"]
		c.Revision--
		state.Checkpoints["c0"] = c
		what = "a revision that is one less"
	default:
		th := state.Threads["t0"]
		th.Rev++
		state.Threads["t0"] = th
		what = "a rev that is one more"
	}
	h.Ops[at].Out = workloadtest.Raw(state)
	return fmt.Sprintf("%s in call %d", what, h.Ops[at].ID)
}

// BenchmarkTurnCheck shows that a million calls take at most a minute.
func BenchmarkTurnCheck(b *testing.B) {
	run := func(seed uint64) *history.History { return storeHistory(seed, 9, 800) }
	workloadtest.Scales(b, New(), workloadtest.OfKeys(10, workloadtest.Named("g"), run))
}
