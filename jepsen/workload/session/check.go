package session

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/claim"
)

// theSession is the ledger's name of the session. Its versions are its revisions.
const theSession = "the session"

// Check judges each session separately. A lease is a claim and fences the writes under
// it, so the rules of claims come first. Then follow the rules of turns and one order
// of all calls.
func (*session) Check(ctx context.Context, h *history.History) check.Result {
	faultFree, leaders := workload.FaultFreeOf(h), claim.LeadersOf(h)
	return workload.ByKey(ctx, "session", h, func(key string, ops []history.Op, f *workload.Findings) error {
		s := &turns{
			Claimed: claim.NewClaimed(key, ops, f, faultFree, leaders), policy: policyOf(key),
			in: map[int]sessionCall{}, out: map[int]*sessionSeen{},
		}
		if err := s.load(); err != nil {
			return err
		}
		kept := len(f.Kept)
		s.Place()
		s.JudgeEpochs()
		s.JudgeFence()
		if s.policy != agent.BusyInterrupt { // otherwise a claim may end a valid lease
			s.JudgeTerms()
		}
		s.judgeTurns()
		s.judgeQueue()
		if !s.Disordered {
			s.judgeCalls()
		}
		s.Draw(f.Kept[kept:])
		return nil
	})
}

// turns is the history of one session. Calls are identified by their index in Ops.
type turns struct {
	*claim.Claimed
	policy agent.BusyPolicy
	in     map[int]sessionCall  // inputs of all calls but reads
	out    map[int]*sessionSeen // answers
}

// load decodes the calls, and sets what each did to the lease and to the thread for
// the rules of claims.
func (s *turns) load() error {
	for call, op := range s.Ops {
		if op.Outcome == history.OK {
			seen, err := history.Decode[sessionSeen](op.Out)
			if err != nil {
				return err
			}
			s.out[call] = &seen
		}
		if op.Call == workload.CallRead || op.Call == callOverdue {
			if seen := s.out[call]; seen != nil {
				s.Gets[call] = &claim.Seen{Epoch: seen.Epoch, Holder: seen.Owner, Index: seen.Index}
				s.Loads[call] = &claim.FencedSeen{Rev: seen.Rev, Entries: seen.Entries, Index: seen.Index}
			}
			continue
		}
		in, err := history.Decode[sessionCall](op.In)
		if err != nil {
			return err
		}
		s.in[call] = in
		s.loadWrite(call, in, s.out[call])
	}
	return nil
}

func (s *turns) loadWrite(call int, in sessionCall, out *sessionSeen) {
	switch s.Ops[call].Call {
	case workload.CallClaim, callRecover, callResume:
		if out == nil || out.gives(in) || out.Queued == 0 {
			s.Changes[call] = changedBy(claim.DoesTake, in, out)
		}
	case callRenew:
		s.Changes[call] = changedBy(claim.DoesRenew, in, out)
	case callEffect:
		s.entered(call, in, out)
		if in.Save { // a checkpoint also renews
			s.Changes[call] = changedBy(claim.DoesRenew, in, out)
		}
	case workload.CallCommit:
		s.entered(call, in, out)
		s.Changes[call] = changedBy(claim.DoesRelease, in, out)
	}
}

func changedBy(does string, in sessionCall, out *sessionSeen) *claim.Changed {
	made := &claim.Changed{Does: does, In: claim.Call{Holder: in.Owner, Epoch: in.Epoch, TTL: in.TTL}}
	if out != nil {
		made.Out = &claim.Seen{Epoch: out.Epoch, Holder: out.Owner, Index: out.Index}
	}
	return made
}

// entered records a write of an entry under the lease.
func (s *turns) entered(call int, in sessionCall, out *sessionSeen) {
	s.Writes[call] = &claim.Fenced{In: claim.FencedWrite{Name: in.Name, Epoch: in.Epoch}}
	if out != nil {
		s.Writes[call].Out = &claim.FencedWrote{Seq: out.Rev - 1, Index: out.Index}
	}
	s.Authored(call, claim.FencedLog, in.Name)
}

// judgeCalls searches for one order of all calls, by the versions of the lease, the
// session and the thread that they made or found.
func (s *turns) judgeCalls() {
	transactions, made := map[int]*model.Transaction{}, map[model.Access]int{}
	for call := range s.Ops {
		t := s.transaction(call)
		if len(t.Reads)+len(t.Writes) == 0 {
			continue
		}
		for _, w := range t.Writes {
			if other, again := made[w]; again {
				s.Findings.Add("made twice", s.Key, s.Of(other, call), "%s and %s both made version %d of %s",
					workload.NameOf(s.Ops[other]), workload.NameOf(s.Ops[call]), w.Version, w.Object)
				return // there is no order to search for
			}
			made[w] = call
		}
		transactions[call] = t
	}
	s.JudgeOrder(transactions)
}

func (s *turns) transaction(call int) *model.Transaction {
	t, in, out := &model.Transaction{}, s.in[call], s.out[call]
	reads := func(object string, version uint64) {
		t.Reads = append(t.Reads, model.Access{Object: object, Version: version})
	}
	writes := func(object string, version uint64) {
		if version > 0 {
			t.Writes = append(t.Writes, model.Access{Object: object, Version: version})
		}
	}
	rev := s.Object(claim.FencedLog).Version[in.Name]
	switch s.Ops[call].Call {
	case workload.CallRead, callOverdue:
		if out == nil {
			return t
		}
		reads(theSession, out.Revision)
		reads(claim.FencedLog, out.Rev)
		if out.Status == agent.SessionRunning {
			reads(claim.TheClaim, 2*out.Epoch)
		}
		return t
	case callEffect:
		if rev > 0 {
			writes(claim.FencedLog, rev)
			reads(claim.TheClaim, 2*in.Epoch)
		}
	case workload.CallCommit:
		if rev > 0 {
			writes(claim.FencedLog, rev)
			writes(claim.TheClaim, 2*in.Epoch+1)
		}
	case callRenew:
		if out != nil {
			reads(claim.TheClaim, 2*in.Epoch)
		}
	default:
		writes(claim.TheClaim, 2*s.Begun(call))
	}
	if out != nil {
		writes(theSession, out.Revision)
	}
	return t
}
