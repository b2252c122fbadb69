package fakestore

import (
	"fmt"

	"dormouse/agent"
)

func (s *Store) threadOp(sc *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.AppendThread:
		t := s.open(sc, o.Thread)
		if o.ExpectedRev != nil && *o.ExpectedRev != t.Rev {
			return nil, t.conflict(fmt.Sprintf("not at rev %d", *o.ExpectedRev))
		}
		if o.ExpectedHead != "" && o.ExpectedHead != t.Head.String() {
			return nil, t.conflict("not at that head")
		}
		return s.append(sc, t, o.Entries, o.Metadata), nil
	case *agent.HibernateThread:
		t := s.open(sc, o.Thread)
		if o.Rev < t.Rev {
			err := t.conflict("the caller's thread is shorter")
			err.Code = agent.CodeRevRegression
			return nil, err
		}
		if o.FromSeq > t.Rev {
			return nil, t.conflict("entries are missing in between")
		}
		return s.append(sc, t, o.Entries[t.Rev-o.FromSeq:], o.Metadata), nil
	case *agent.DeleteThread:
		t := sc.threads[o.Thread]
		delete(sc.threads, o.Thread)
		return &agent.DeleteResult{Existed: t != nil}, nil
	case *agent.CompactThread:
		t := sc.threads[o.Thread]
		if t == nil {
			return nil, notFound("thread", o.Thread)
		}
		t.entries = t.entries[o.BeforeSeq-t.Floor:]
		t.Floor, t.Summary, t.UpdatedAt = o.BeforeSeq, o.Summary, s.now()
		return &agent.ThreadResult{Thread: t.Thread}, nil
	case *agent.ForkThread:
		return s.fork(sc, o)
	default:
		return s.claimOp(sc, op)
	}
}

// open returns the thread of that name; it creates a missing one.
func (s *Store) open(sc *scope, id string) *journal {
	if t := sc.threads[id]; t != nil {
		return t
	}
	return &journal{
		Thread: agent.Thread{ID: id, Incarnation: s.index, CreatedAt: s.now(), Metadata: agent.JSON("{}")},
		heads:  []agent.Head{{}},
	}
}

func (t *journal) conflict(detail string) *agent.Error {
	return &agent.Error{Code: agent.CodeConflict, Detail: detail, Rev: t.Rev, Head: t.Head.String()}
}

func (s *Store) append(sc *scope, t *journal, drafts []agent.Draft, metadata agent.JSON) agent.OpResult {
	if t.Rev == 0 && metadata != nil {
		t.Metadata = metadata
	}
	result := &agent.ThreadResult{}
	for _, d := range drafts {
		e := d.Entry(t.Incarnation, t.Rev, s.now())
		t.Head = t.Head.Next(e.ID, e.At, e.Kind, e.Payload, e.Refs)
		t.entries, t.heads = append(t.entries, e), append(t.heads, t.Head)
		t.Rev++
		result.Entries = append(result.Entries, agent.EntryStamp{ID: e.ID, Seq: e.Seq, At: e.At})
	}
	t.UpdatedAt = s.now()
	sc.threads[t.ID] = t
	result.Thread = t.Thread
	return result
}

func (s *Store) fork(sc *scope, o *agent.ForkThread) (agent.OpResult, *agent.Error) {
	t := sc.threads[o.Thread]
	if t == nil {
		return nil, notFound("thread", o.Thread)
	}
	if sc.threads[o.NewThread] != nil {
		return nil, agent.Errorf(agent.CodeAlreadyExists, "there is a thread %q", o.NewThread)
	}
	rev := t.Rev
	if o.AtRev != nil {
		rev = *o.AtRev
	}
	f := &journal{Thread: t.Thread, entries: t.entries[:rev:rev], heads: t.heads[: rev+1 : rev+1]}
	f.ForkedFrom = &agent.ForkPoint{Thread: t.ID, Incarnation: t.Incarnation, Rev: rev}
	f.ID, f.Incarnation, f.Rev, f.Head, f.CreatedAt, f.UpdatedAt = o.NewThread, s.index, rev, t.heads[rev], s.now(), s.now()
	sc.threads[f.ID] = f
	return &agent.ThreadResult{Thread: f.Thread}, nil
}
