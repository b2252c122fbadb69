package vectors

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// same is a score that only the vector of the recall itself has: two others are never as near.
const same = 0.99

// Check judges each agent: what each recall found against the writes and deletes of each memory.
func (*vectors) Check(ctx context.Context, h *history.History) check.Result {
	counts := map[string]int{"found by its own vector": 0, "recalled after deletes": 0}
	r := workload.ByKey(ctx, Name, h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{key: key, ops: ops, findings: f, counts: counts, memories: map[string]*memory{}}
		if err := j.load(); err != nil {
			return err
		}
		for _, call := range j.finds {
			j.judge(call)
		}
		return nil
	})
	maps.Copy(r.Counts, counts)
	return r
}

// judge is the judgement of one agent's memories. Calls are identified by their place in ops.
type judge struct {
	key      string
	ops      []history.Op
	findings *workload.Findings
	counts   map[string]int

	in       []call
	memories map[string]*memory
	deletes  []int
	finds    []int
}

// memory is the history of one memory. One process makes its changes, one after the other.
type memory struct {
	writes []int // :: version - 1 → the call that writes it
	gone   int   // the call that deletes it; -1 for none
}

func (j *judge) load() (err error) {
	j.in = make([]call, len(j.ops))
	for at, op := range j.ops {
		if j.in[at], err = history.Decode[call](op.In); err != nil {
			return err
		}
		switch op.Call {
		case callWrite:
			m := j.of(j.in[at].ID)
			m.writes = append(m.writes, at)
		case callDelete:
			j.of(j.in[at].ID).gone = at
			j.deletes = append(j.deletes, at)
		case callFind:
			if op.Outcome == history.OK {
				j.finds = append(j.finds, at)
			}
		}
	}
	for _, m := range j.memories {
		slices.SortFunc(m.writes, func(a, b int) int { return int(j.in[a].Version) - int(j.in[b].Version) })
	}
	return nil
}

func (j *judge) of(id string) *memory {
	m := j.memories[id]
	if m == nil {
		m = &memory{gone: -1}
		j.memories[id] = m
	}
	return m
}

func (j *judge) add(rule string, calls []int, format string, args ...any) {
	j.findings.Add(rule, j.key, workload.CallsOf(j.ops, calls...), format, args...)
}

// before reports whether a call was acknowledged before another began.
func (j *judge) before(earlier, later int) bool {
	return j.ops[earlier].Outcome == history.OK && j.ops[earlier].Return < j.ops[later].Invoke
}

func (j *judge) judge(find int) {
	out, err := history.Decode[found](j.ops[find].Out)
	if err != nil {
		j.add("no answer", []int{find}, "%s: %v", workload.NameOf(j.ops[find]), err)
		return
	}
	if slices.ContainsFunc(j.deletes, func(d int) bool { return j.before(d, find) }) {
		j.counts["recalled after deletes"]++
	}
	times := map[string]int{}
	for _, one := range out.Items {
		times[one.ID]++
		j.shown(find, one)
		if times[one.ID] == 2 {
			j.add("found twice", []int{find}, "%s found memory %s twice", workload.NameOf(j.ops[find]), one.ID)
		}
	}
	if in := j.in[find]; in.Mode == agent.ModeVector {
		j.nearest(find, in, out)
	}
}

// shown judges one memory that a recall found.
func (j *judge) shown(find int, one item) {
	m, name := j.memories[one.ID], workload.NameOf(j.ops[find])
	switch {
	case m == nil || len(m.writes) == 0 || j.ops[m.writes[0]].Invoke > j.ops[find].Return:
		j.add("memory from nowhere", []int{find}, "%s found memory %s, which no call had written", name, one.ID)
	case !slices.ContainsFunc(m.writes, func(w int) bool { return j.ops[w].Outcome != history.Refused }):
		j.add("refused but found", append([]int{find}, m.writes...), "%s found memory %s, and its writes were refused", name, one.ID)
	case m.gone >= 0 && j.before(m.gone, find):
		j.add("deleted and found", []int{m.gone, find}, "%s found memory %s, whose delete had been acknowledged before it began", name, one.ID)
	}
}

// nearest judges a recall by the vector of a version of a memory.
func (j *judge) nearest(find int, in call, out found) {
	m, name := j.memories[in.ID], workload.NameOf(j.ops[find])
	if m == nil || int(in.Version) > len(m.writes) {
		return // the vector of no memory
	}
	write := m.writes[in.Version-1]
	there := slices.ContainsFunc(out.Items, func(one item) bool { return one.ID == in.ID && one.Score > same })
	after := m.writes[in.Version:]
	if m.gone >= 0 {
		after = append(slices.Clone(after), m.gone)
	}
	switch {
	case there:
		if n := slices.IndexFunc(after, func(c int) bool { return j.ops[c].Call == callWrite && j.before(c, find) }); n >= 0 {
			j.add("found by an earlier vector", []int{after[n], find}, "%s found memory %s by the vector of version %d, and version %d had been acknowledged before it began",
				name, in.ID, in.Version, j.in[after[n]].Version)
			return
		}
		j.counts["found by its own vector"]++
	case !j.before(write, find):
	case slices.ContainsFunc(after, func(c int) bool { return j.ops[c].Outcome != history.Refused && j.ops[c].Invoke < j.ops[find].Return }):
	default:
		j.add("not found by its own vector", []int{write, find}, "%s did not find version %d of memory %s, which had been acknowledged before it began and was not changed since",
			name, in.Version, in.ID)
	}
}
