package changes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each scope: what its feed told against what its writers know, all polls against one
// feed, and each list against the state at its index.
func (w *changes) Check(ctx context.Context, h *history.History) check.Result {
	counts := map[string]int{"changes told": 0, "refused commits": 0}
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{key: key, ops: ops, findings: f, counts: counts, doomed: map[int]bool{}, changes: map[change]*known{}, of: map[int][]*known{}}
		if err := j.load(); err != nil {
			return err
		}
		j.judgeFeed()
		j.judgeWholes()
		j.judgeLists()
		return nil
	})
	maps.Copy(r.Counts, counts)
	return r
}

// change is the one put or the one delete of a value.
type change struct {
	key     string
	deleted bool
}

// known is what is known of a change.
type known struct {
	change
	call    int    // that makes it, or -1
	first   int    // the first poll that told of it, or -1
	index   uint64 // 0 if neither its commit nor a poll told it; a poll tells that of all changes of a commit
	ordinal uint64 // valid if first >= 0
}

// judge is the judgement of one scope. Calls are identified by their place in ops.
type judge struct {
	key      string
	ops      []history.Op
	findings *workload.Findings
	counts   map[string]int

	doomed  map[int]bool // :: commit → its last op must fail
	changes map[change]*known
	of      map[int][]*known // :: commit → its changes
	polls   []onePoll
	lists   []oneList
}

type onePoll struct {
	call int
	in   poll
	out  polled
}

type oneList struct {
	call  int
	group string
	out   listed
}

func (j *judge) add(rule string, calls []int, format string, args ...any) {
	j.findings.Add(rule, j.key, workload.CallsOf(j.ops, calls...), format, args...)
}

func (j *judge) known(c change) *known {
	if j.changes[c] == nil {
		j.changes[c] = &known{change: c, call: -1, first: -1}
	}
	return j.changes[c]
}

func (j *judge) load() (err error) {
	for call, op := range j.ops {
		switch {
		case op.Call == workload.CallCommit:
			err = j.loadCommit(call, op)
		case op.Call == callPoll && op.Outcome == history.OK:
			one := onePoll{call: call}
			if one.in, err = history.Decode[poll](op.In); err == nil {
				one.out, err = history.Decode[polled](op.Out)
			}
			j.polls = append(j.polls, one)
		case op.Call == callList && op.Outcome == history.OK:
			one := oneList{call: call}
			if one.group, err = history.Decode[string](op.In); err == nil {
				one.out, err = history.Decode[listed](op.Out)
			}
			j.lists = append(j.lists, one)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range j.polls {
		j.loadPoll(p)
	}
	return nil
}

func (j *judge) loadCommit(call int, op history.Op) error {
	in, err := history.Decode[commit](op.In)
	if err != nil {
		return err
	}
	var index uint64
	switch op.Outcome {
	case history.OK:
		out, err := history.Decode[committed](op.Out)
		if err != nil {
			return err
		}
		if index = out.Index; in.Doomed {
			j.add("accepted although an op must fail", []int{call}, "%s was answered ok", workload.NameOf(op))
		}
	case history.Refused:
		j.counts["refused commits"]++
	default:
	}
	j.doomed[call] = in.Doomed
	for _, key := range in.Puts {
		j.made(call, index, change{key, false})
	}
	for _, key := range in.Deletes {
		j.made(call, index, change{key, true})
	}
	return nil
}

// made notes a change of a commit.
func (j *judge) made(call int, index uint64, c change) {
	k := j.known(c)
	k.call, k.index = call, index
	j.of[call] = append(j.of[call], k)
}

// refused reports whether a commit cannot have been applied: it was refused, or its last op must fail.
func (j *judge) refused(call int) bool {
	return call >= 0 && (j.ops[call].Outcome == history.Refused || j.doomed[call])
}

// why returns why a commit cannot have been applied.
func (j *judge) why(call int) string {
	if op := j.ops[call]; op.Outcome == history.Refused {
		return fmt.Sprintf("was refused (%s)", op.Code)
	}
	return "ends with an op that must fail"
}

// loadPoll notes each change of a poll, and judges it alone.
func (j *judge) loadPoll(p onePoll) {
	name := workload.NameOf(j.ops[p.call])
	before, skip := p.in.From, p.in.Skip
	for _, c := range p.out.Changes {
		j.counts["changes told"]++
		if c.Index < before || c.Index == before && c.Ordinal < skip {
			j.add("out of order", []int{p.call}, "%s told of %d.%d, before %d.%d", name, c.Index, c.Ordinal, before, skip)
		}
		before, skip = c.Index, c.Ordinal+1
		k := j.known(change{c.Key, c.Deleted})
		switch {
		case k.call < 0:
			j.add("change from nowhere", []int{p.call}, "%s told of %s, which no commit made", name, k.change)
		case j.refused(k.call):
			j.add("refused commit told", []int{k.call, p.call}, "%s %s, and %s told of its change of %s at %d.%d",
				workload.NameOf(j.ops[k.call]), j.why(k.call), name, k.change, c.Index, c.Ordinal)
		case j.ops[p.call].Return < j.ops[k.call].Invoke:
			j.add("told before it was made", []int{k.call, p.call}, "%s told of %s and returned before %s was invoked", name, k.change, workload.NameOf(j.ops[k.call]))
		case k.first >= 0 && (k.index != c.Index || k.ordinal != c.Ordinal):
			j.add("told twice", []int{k.first, p.call}, "%s told of %s at %d.%d, and %s at %d.%d",
				workload.NameOf(j.ops[k.first]), k.change, k.index, k.ordinal, name, c.Index, c.Ordinal)
		case k.first < 0 && k.index != 0 && k.index != c.Index:
			j.add("another index", []int{k.call, p.call}, "%s was applied at index %d, and %s told of %s at %d", workload.NameOf(j.ops[k.call]), k.index, name, k.change, c.Index)
		}
		if k.first < 0 {
			k.first, k.index, k.ordinal = p.call, c.Index, c.Ordinal
			j.share(k)
		}
	}
}

// share gives the index of a change that was told to the other changes of its commit, if they have none.
func (j *judge) share(k *known) {
	if k.call < 0 || j.refused(k.call) {
		return
	}
	for _, other := range j.of[k.call] {
		if other.index == 0 {
			other.index = k.index
		}
	}
}

func (c change) String() string {
	if c.deleted {
		return fmt.Sprintf("the deletion of %q", c.key)
	}
	return fmt.Sprintf("%q", c.key)
}

// judgeFeed checks that no poll left out a change between two positions of the feed that it covers.
func (j *judge) judgeFeed() {
	var all []*known // with an index, in order; those of one index that were never told come first
	for _, k := range j.changes {
		if k.index > 0 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *known) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.key, b.key))
	})
	for _, p := range j.polls {
		to := after(p.in, p.out)
		has := make(map[change]bool, len(p.out.Changes))
		for _, c := range p.out.Changes {
			has[change{c.Key, c.Deleted}] = true
		}
		if p.out.Floor > 0 && len(all) > 0 && all[0].index < p.out.Floor {
			j.add("feed too short", []int{p.call}, "%s was told that the feed begins at index %d, although %s was made at %d", workload.NameOf(j.ops[p.call]), p.out.Floor, all[0].change, all[0].index)
		}
		from, _ := slices.BinarySearchFunc(all, p.in.From, func(k *known, index uint64) int { return cmp.Compare(k.index, index) })
		for _, k := range all[from:] {
			if k.index > to.From || k.index == to.From && (k.first < 0 || k.ordinal >= to.Skip) {
				if k.index > to.From {
					break
				}
				continue
			}
			if k.index == p.in.From && (k.first < 0 && p.in.Skip > 0 || k.ordinal < p.in.Skip) || has[k.change] {
				continue
			}
			calls := []int{p.call}
			if k.call >= 0 {
				calls = append(calls, k.call)
			}
			j.add("change left out", calls, "%s told of the changes from %d.%d to %d.%d without %s, which was made at index %d",
				workload.NameOf(j.ops[p.call]), p.in.From, p.in.Skip, to.From, to.Skip, k.change, k.index)
		}
		if p.out.End == "nothing" || p.out.End == string(agent.CodeDeleted) {
			j.add("feed ended", []int{p.call}, "%s ended with %q although nothing was deleted", workload.NameOf(j.ops[p.call]), p.out.End)
		}
	}
}
