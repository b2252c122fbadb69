package set

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check compares every read of a set with the members that were, or may have been,
// added to it.
func (w *set) Check(ctx context.Context, h *history.History) check.Result {
	return Check(ctx, w.Name(), h)
}

// Check judges the sets of a workload.
func Check(ctx context.Context, name string, h *history.History) check.Result {
	total := map[string]int{"acknowledged": 0, "lost": 0, "stale": 0, "never read": 0}
	unread := slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Kind == history.EventNote && e.Name == check.NoteDiskUnread })
	r := workload.ByKey(ctx, name, h, func(key string, ops []history.Op, f *workload.Findings) error {
		s := &judge{key: key, findings: f, added: map[int64]*member{}, counts: total, unread: unread}
		if err := s.collect(ops); err != nil {
			return err
		}
		for _, op := range ops {
			if m := s.of[op.ID]; m != nil {
				s.judge(m)
			}
		}
		return nil
	})
	for name, n := range total {
		r.Counts[name] = n
	}
	if unread := total["never read"]; r.Verdict == check.OK && unread > 0 {
		r.Verdict = check.Unknown
		r.Why = fmt.Sprintf("%d of %d acknowledged members were never read after their return", unread, total["acknowledged"])
	}
	return r
}

// judge is the judgement of one set.
type judge struct {
	key      string
	findings *workload.Findings
	added    map[int64]*member // by number
	of       map[int64]*member // by the id of the call that added it
	reads    []read            // by invocation
	disks    []string          // whose disks were read
	unread   bool              // a disk could not be read
	counts   map[string]int
}

// member is a member that a call tried to add.
type member struct {
	number int64
	add    history.Op
	first  *history.Op // the first read that returned it
	onDisk bool        // the disk of a node has it
}

type read struct {
	op      history.Op
	members map[int64]bool
}

// collect records the calls and judges each read alone.
func (s *judge) collect(ops []history.Op) error {
	s.of = map[int64]*member{}
	for _, op := range ops {
		if op.Call != CallAdd {
			continue
		}
		in, err := history.Decode[In](op.In)
		if err != nil {
			return err
		}
		m := &member{number: in.Member, add: op}
		s.added[in.Member], s.of[op.ID] = m, m
	}
	for _, op := range ops {
		disk := op.Call == workload.CallDisk
		if op.Call != workload.CallRead && !disk || op.Outcome != history.OK {
			continue
		}
		out, err := history.Decode[Out](op.Out)
		if err != nil {
			return err
		}
		if disk {
			s.readDisk(op.Node, out)
			continue
		}
		s.read(op, out)
	}
	return nil
}

// readDisk records what the disk of a node has.
func (s *judge) readDisk(node string, out Out) {
	s.disks = append(s.disks, node)
	for _, number := range out.Members {
		if m := s.added[number]; m != nil {
			m.onDisk = true
		}
	}
}

func (s *judge) read(op history.Op, out Out) {
	r := read{op: op, members: make(map[int64]bool, len(out.Members))}
	for _, wrong := range out.Wrong {
		s.findings.Add("member from nowhere", s.key, []history.Op{op}, "call %d read %q, which no call can have added", op.ID, wrong)
	}
	for _, number := range out.Members {
		if r.members[number] {
			s.findings.Add("duplicate member", s.key, []history.Op{op}, "call %d read member %d twice", op.ID, number)
		}
		r.members[number] = true
		m := s.added[number]
		switch {
		case m == nil:
			s.findings.Add("member from nowhere", s.key, []history.Op{op}, "call %d read member %d, which no call added", op.ID, number)
			continue
		case m.add.Outcome == history.Refused:
			s.findings.Add("refused member is there", s.key, []history.Op{m.add, op}, "call %d was refused (%s), and call %d read its member %d", m.add.ID, m.add.Code, op.ID, number)
		case op.Return < m.add.Invoke:
			s.findings.Add("read before it was added", s.key, []history.Op{m.add, op}, "call %d read member %d and returned before call %d was made to add it", op.ID, number, m.add.ID)
		}
		if m.first == nil || op.Return < m.first.Return {
			m.first = &op
		}
	}
	s.reads = append(s.reads, r)
}

// judge checks that every read finds a member once it is known to exist, by its
// acknowledgement or by an earlier read.
func (s *judge) judge(m *member) {
	known, by := history.Never, m.add
	if m.add.Outcome == history.OK {
		s.counts["acknowledged"]++
		known = m.add.Return
		if len(s.disks) > 0 && !s.unread && !m.onDisk {
			s.counts["on no disk"]++
			s.findings.Add("on no surviving disk", s.key, []history.Op{m.add}, "member %d was acknowledged at %v, and is on no surviving disk: those of %s were read", m.number, m.add.Return, strings.Join(s.disks, ", "))
		}
	}
	if m.first != nil && m.first.Return < known {
		known, by = m.first.Return, *m.first
	}
	if known == history.Never {
		return
	}
	var without, last *history.Op
	for i := range s.reads {
		r := &s.reads[i]
		if r.op.Invoke <= known {
			continue
		}
		last = nil
		if !r.members[m.number] {
			without, last = &r.op, &r.op
		}
	}
	s.tell(m, by, known, without, last)
}

// tell adds a finding if a read lacked the member. without is such a read; last is the
// last read, if it lacked the member.
func (s *judge) tell(m *member, by history.Op, known time.Duration, without, last *history.Op) {
	switch {
	case last != nil:
		s.counts["lost"]++
		s.findings.Add("lost member", s.key, []history.Op{m.add, by, *last}, "member %d existed when call %d returned, but not in call %d or later", m.number, by.ID, last.ID)
	case without != nil:
		s.counts["stale"]++
		s.findings.Add("stale read", s.key, []history.Op{m.add, by, *without}, "member %d existed when call %d returned, but not in call %d, invoked later", m.number, by.ID, without.ID)
	case m.add.Outcome == history.OK && (len(s.reads) == 0 || s.reads[len(s.reads)-1].op.Invoke <= known):
		s.counts["never read"]++
	}
}
