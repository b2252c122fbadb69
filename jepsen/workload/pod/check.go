package pod

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/instance"
)

// Check judges each pod's mutations by the version of its topology, which grows by one
// with each mutation. It judges the nodes as counters.
func (w *podWorkload) Check(ctx context.Context, h *history.History) check.Result {
	judged := 0
	jumped := slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.EventFault && e.Name == "clock" })
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		switch {
		case key == "":
			return nil
		case strings.Contains(key, "/"):
			_, err := instance.JudgeCounter(key, ops, f)
			return err
		}
		s := &grown{key: key, findings: f, jumped: jumped, tried: map[string]*growth{}}
		if err := s.collect(ops); err != nil {
			return err
		}
		s.judge()
		judged += len(s.tried)
		return nil
	})
	r.Counts["mutations judged"] = judged
	return r
}

// grown is the judgement of one pod.
type grown struct {
	key      string
	findings *workload.Findings
	jumped   bool               // a fault shifted clocks: a pod resumes running mutations by its owner's wall clock
	tried    map[string]*growth // :: node → the mutation that adds it
	reads    []podRead
	seen     []model.Placed // Tag is the index in told
	told     []history.Op
}

// growth is a mutation with all its attempts.
type growth struct {
	op      history.Op // an answered attempt, otherwise the first one
	version uint64     // the version that it made; 0 if no attempt was answered
	failed  bool
	may     bool          // it may have been applied
	begun   time.Duration // invocation of the first attempt
}

type podRead struct {
	op    history.Op
	seen  podSeen
	final bool
}

// collect records the calls and their answers.
func (s *grown) collect(ops []history.Op) error {
	for _, op := range ops {
		if op.Call != callGrow && (op.Call != workload.CallRead || op.Outcome != history.OK) {
			continue
		}
		in, err := history.Decode[podCall](op.In)
		if err != nil {
			return err
		}
		var seen podSeen
		if op.Outcome == history.OK {
			if seen, err = history.Decode[podSeen](op.Out); err != nil {
				return err
			}
			s.tell(op, seen.Version)
		}
		if op.Call == workload.CallRead {
			s.read(podRead{op, seen, in.Final})
			continue
		}
		g := s.tried[in.Name]
		if g == nil {
			g = &growth{op: op, begun: op.Invoke}
			s.tried[in.Name] = g
		}
		g.begun = min(g.begun, op.Invoke)
		g.may = g.may || op.Outcome != history.Refused
		if op.Outcome == history.OK {
			if g.version != 0 && g.version != seen.Version {
				s.findings.Add("mutation that counts twice", s.key, []history.Op{g.op, op}, "calls %d and %d asked for one mutation, and their answers have topology versions %d and %d",
					g.op.ID, op.ID, g.version, seen.Version)
			}
			g.op, g.version, g.failed = op, seen.Version, seen.Failed
		}
	}
	return nil
}

// read records a read. Of several final reads the last one counts: an earlier one found a
// mutation whose caller had given up, and which began after the read before it.
func (s *grown) read(r podRead) {
	for i := range s.reads {
		earlier := &s.reads[i]
		if !r.final || !earlier.final {
			continue
		}
		earlier.final = earlier.op.Invoke > r.op.Invoke
		r.final = !earlier.final
	}
	s.reads = append(s.reads, r)
}

// tell records the version in an answer. The answer of a mutation has the version that
// the mutation made, maybe long before; the answer of a read has the current version.
func (s *grown) tell(op history.Op, version uint64) {
	before, after := version, version
	if op.Call == callGrow {
		before = workload.Unbounded
	}
	s.seen = append(s.seen, model.Placed{
		Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Before: model.Position{Version: before}, After: model.Position{Version: after}, Tag: len(s.told),
	})
	s.told = append(s.told, op)
}

func (s *grown) judge() {
	for _, b := range model.GoneBack(s.seen) {
		earlier, later := s.told[b.Earlier.Tag], s.told[b.Later.Tag]
		s.findings.Add("stale read", s.key, []history.Op{earlier, later}, "call %d had returned with the topology at %d, and call %d, invoked later, found it at %d",
			earlier.ID, b.Earlier.After.Version, later.ID, b.Later.Before.Version)
	}
	s.judgeVersions()
	slices.SortStableFunc(s.reads, func(a, b podRead) int { return cmp.Compare(a.seen.Version, b.seen.Version) })
	for n, r := range s.reads {
		s.judgeRead(r)
		if n > 0 {
			s.judgeGrowth(s.reads[n-1], r)
		}
	}
}

// judgeVersions checks that no two mutations made one version.
func (s *grown) judgeVersions() {
	by := map[uint64]*growth{}
	for _, name := range slices.Sorted(maps.Keys(s.tried)) {
		g := s.tried[name]
		if g.version == 0 {
			continue
		}
		if other := by[g.version]; other != nil {
			s.findings.Add("two mutations of one version", s.key, []history.Op{other.op, g.op}, "the answers of calls %d and %d both have version %d of the topology",
				other.op.ID, g.op.ID, g.version)
		}
		by[g.version] = g
	}
}

// judgeRead checks that a read shows exactly the nodes that were added up to its
// version.
func (s *grown) judgeRead(r podRead) {
	one := []history.Op{r.op}
	if want := uint64(len(r.seen.Nodes)) + 1; r.seen.Version != want && r.seen.Version > 0 {
		s.findings.Add("mutations and nodes apart", s.key, one, "call %d found %d nodes in version %d of the topology, which grows by one with each", r.op.ID, want-1, r.seen.Version)
	}
	for _, node := range r.seen.Nodes {
		switch g := s.tried[node]; {
		case g == nil:
			s.findings.Add("node from nowhere", s.key, one, "call %d found node %s, which no call added", r.op.ID, node)
		case !g.may:
			s.findings.Add("refused mutation applied", s.key, []history.Op{g.op, r.op}, "call %d found node %s, and call %d, which adds it, was refused", r.op.ID, node, g.op.ID)
		case g.begun > r.op.Return:
			s.findings.Add("seen before it was added", s.key, []history.Op{g.op, r.op}, "call %d found node %s, which call %d added later", r.op.ID, node, g.op.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.tried)) {
		g := s.tried[name]
		if there := slices.Contains(r.seen.Nodes, name); g.version > 0 && there != (g.version <= r.seen.Version) {
			s.findings.Add("lost mutation", s.key, []history.Op{g.op, r.op}, "call %d added node %s in version %d of the topology, and in version %d call %d found it: %t",
				g.op.ID, name, g.version, r.seen.Version, r.op.ID, there)
		}
		if r.final && g.version > 0 && !g.failed && slices.Contains(r.seen.Nodes, name) && !slices.Contains(r.seen.Stored, name) {
			s.findings.Add("node that never started", s.key, []history.Op{g.op, r.op}, "call %d added node %s, which must start with its pod, and the final call %d found nothing stored of it",
				g.op.ID, name, r.op.ID)
		}
	}
	if r.final && r.seen.Running && !s.jumped {
		s.findings.Add("mutation without an end", s.key, one, "call %d found a mutation still running, %v after all faults were healed", r.op.ID, endMax)
	}
}

// judgeGrowth checks that a topology has the nodes of every earlier one.
func (s *grown) judgeGrowth(earlier, later podRead) {
	for _, node := range earlier.seen.Nodes {
		if !slices.Contains(later.seen.Nodes, node) {
			s.findings.Add("lost node", s.key, []history.Op{earlier.op, later.op}, "call %d found node %s in version %d, and call %d did not in version %d",
				earlier.op.ID, node, earlier.seen.Version, later.op.ID, later.seen.Version)
		}
	}
}
