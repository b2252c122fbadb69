package agenttest_test

import (
	"maps"
	"slices"

	"dormouse/agent"
)

// agentOp applies an op on a whole agent; an erasure is complete at once.
func (r *reference) agentOp(s *scope, op agent.Op) (agent.OpResult, *agent.Error) {
	switch o := op.(type) {
	case *agent.ForkAgent:
		return r.forkAgent(s, o)
	case *agent.EraseAgent:
		return r.eraseAgent(s, o)
	case *agent.SetTTL:
		return r.setTTL(s, o)
	default:
		return nil, agent.Errorf(agent.CodeInternal, "an op of type %T", op)
	}
}

func (r *reference) forkAgent(s *scope, o *agent.ForkAgent) (agent.OpResult, *agent.Error) {
	now := s.checkpoint(o.Agent)
	if now == nil {
		return nil, notFound("checkpoint")
	}
	if err := first(s.alive("checkpoint", o.Agent, o.IfIncarnation, now.Incarnation), atRevision(o.IfRevision, now.Revision)); err != nil {
		return nil, err
	}
	source, err := s.revision(o.Agent, o.Revision)
	if err != nil {
		return nil, err
	}
	if s.checkpoint(o.NewAgent) != nil || len(s.of(o.NewAgent)) > 0 {
		return nil, agent.Errorf(agent.CodeAlreadyExists, "agent %q is there", o.NewAgent)
	}
	forked := &agent.ForkedAgent{}
	if o.Session != "" {
		if forked.Session, err = r.forkAgentSession(s, o, source.Thread); err != nil {
			return nil, err
		}
	}
	put := &agent.PutCheckpoint{Key: o.NewAgent, Version: source.Version, State: source.State, Lifecycle: source.Lifecycle, Metadata: source.Metadata}
	if p := source.Thread; p != nil {
		put.Thread = &agent.Pointer{Thread: o.NewThread, Rev: p.Rev}
		if p.Incarnation != 0 {
			if s.threads[p.Thread] == nil {
				return nil, agent.Errorf(agent.CodeMissingThread, "no thread %q", p.Thread)
			}
			done, err := r.forkThread(s, &agent.ForkThread{Thread: p.Thread, NewThread: o.NewThread, AtRev: &p.Rev})
			if err != nil {
				return nil, err
			}
			forked.Thread = &done.(*agent.ThreadResult).Thread
		}
	}
	done, err := r.putCheckpoint(s, put)
	if err != nil {
		return nil, err
	}
	forked.Checkpoint = *done.(*agent.CheckpointResult)
	if !o.WithoutMemory {
		for _, m := range s.of(o.Agent) {
			copied := *m
			copied.Agent, copied.Revision, copied.Incarnation = o.NewAgent, 1, r.minted
			if o.Session != "" && copied.Session == o.Session {
				copied.Session = o.NewSession
			}
			s.memories[o.NewAgent+"\x00"+m.ID] = &copied
			forked.Memories++
		}
	}
	return forked, nil
}

func (r *reference) forkAgentSession(s *scope, o *agent.ForkAgent, p *agent.Pointer) (*agent.SessionRow, *agent.Error) {
	source, ok := s.sessions.Sessions[o.Session]
	switch {
	case !ok:
		return nil, notFound("session")
	case source.Agent != o.Agent, source.Thread != "" && p != nil && source.Thread != p.Thread:
		return nil, agent.Errorf(agent.CodeInvalid, "session %q is of another agent or thread", o.Session)
	}
	h := sessionHost{r, s}
	if _, err, _ := s.sessions.Apply(h, &agent.ForkSession{Session: o.Session, NewSession: o.NewSession}); err != nil {
		return nil, err
	}
	fork := s.sessions.Sessions[o.NewSession]
	fork.Agent = o.NewAgent
	if source.Thread != "" {
		fork.Thread = o.NewThread
	}
	if source.Checkpoint == o.Agent {
		fork.Checkpoint = o.NewAgent
	}
	s.sessions.Sessions[o.NewSession] = fork
	return &s.sessions.Shown(h, o.NewSession).SessionRow, nil
}

func (r *reference) eraseAgent(s *scope, o *agent.EraseAgent) (agent.OpResult, *agent.Error) {
	var revision, incarnation uint64
	if now := s.checkpoint(o.Agent); now != nil {
		revision, incarnation = now.Revision, now.Incarnation
	}
	if err := first(s.alive("", "", 0, 0), atRevision(o.IfRevision, revision)); err != nil {
		return nil, err
	}
	if o.IfIncarnation != 0 && o.IfIncarnation != incarnation {
		return nil, agent.Errorf(agent.CodeDeleted, "agent %q is at incarnation %d", o.Agent, incarnation)
	}
	e := &eraser{reference: r, s: s, o: o, receipt: &agent.Erasure{
		Agent: o.Agent, Index: r.index, ErasedAt: r.now, CompletedAt: r.now, SealedUntil: expiry(r.now, o.Seal),
		Conversations: new(uint64), Hash: agent.WitnessErasure(s.Name, o.Agent, r.index, r.now),
	}}
	e.all()
	if old := s.erasures[o.Agent]; old != nil && e.removed == 0 {
		e.receipt = old
	}
	if o.Seal > 0 {
		s.sealed["checkpoint"+o.Agent], s.sealed["agent"+o.Agent] = incarnation, incarnation
	}
	s.erasures[o.Agent] = e.receipt
	return e.receipt, nil
}

// eraser removes an agent from a scope.
type eraser struct {
	*reference
	s       *scope
	o       *agent.EraseAgent
	receipt *agent.Erasure
	removed int
}

func (e *eraser) witness(kind, id string, numbers ...uint64) {
	e.removed++
	e.receipt.Hash = e.receipt.Hash.Witness(kind, id, numbers...)
}

func (e *eraser) all() {
	e.checkpoint(e.o.Agent)
	memories := e.s.of(e.o.Agent)
	for _, m := range memories {
		delete(e.s.memories, m.Agent+"\x00"+m.ID)
		e.receipt.Memories++
	}
	if len(memories) > 0 {
		e.witness("memories", e.o.Agent)
	}
	for _, id := range slices.Sorted(maps.Keys(e.s.sessions.Sessions)) {
		if e.s.sessions.Sessions[id].Agent == e.o.Agent {
			e.session(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.s.dialogues)) {
		if c := e.s.dialogues[id]; c.Agent == e.o.Agent {
			*e.receipt.Conversations++
			e.witness("conversation", id, c.Incarnation, c.Revision, c.MessageCount)
			delete(e.s.dialogues, id)
			e.s.removed("conversation", id, c.Incarnation, e.o.Seal)
		}
	}
}

func (e *eraser) checkpoint(key string) {
	kept := e.s.checkpoints[key]
	if len(kept) == 0 {
		return
	}
	delete(e.s.checkpoints, key)
	e.s.removed("checkpoint", key, kept[0].Incarnation, e.o.Seal)
	e.receipt.Checkpoints++
	e.receipt.Revisions += uint64(len(kept))
	e.witness("checkpoint", key, kept[0].Incarnation, kept[0].Revision, uint64(len(kept)))
	seen := map[string]bool{}
	for _, c := range kept {
		if c.Thread != nil && !seen[c.Thread.Thread] {
			seen[c.Thread.Thread] = true
			e.thread(c.Thread.Thread)
		}
	}
}

func (e *eraser) thread(id string) {
	t := e.s.threads[id]
	if t == nil {
		return
	}
	for _, kept := range e.s.checkpoints {
		if p := kept[0].Thread; p != nil && p.Thread == id {
			e.receipt.Kept++
			return
		}
	}
	delete(e.s.threads, id)
	e.s.removed("thread", id, t.Incarnation, e.o.Seal)
	e.receipt.Threads++
	e.receipt.Entries += t.Rev - t.Floor
	e.witness("thread", id, t.Incarnation, t.Rev, t.Floor)
	e.witness("head", t.Head.String())
}

func (e *eraser) session(id string) {
	s := e.s.sessions.Sessions[id]
	reviews := uint64(0)
	for _, review := range e.s.sessions.Reviews {
		if review.Session == id {
			reviews++
		}
	}
	e.receipt.Sessions++
	e.receipt.Reviews += reviews
	if s.Lease != nil {
		e.receipt.Claims++
	}
	e.witness("session", id, s.Incarnation, s.Revision, reviews)
	if _, err, _ := e.s.sessions.Apply(sessionHost{e.reference, e.s}, &agent.DeleteSession{Session: id, Seal: e.o.Seal}); err != nil {
		panic(err)
	}
	if key := s.Checkpoint; key != "" && key != e.o.Agent && e.s.checkpoint(key) != nil {
		others := len(e.s.of(key)) > 0
		for _, other := range e.s.sessions.Sessions {
			others = others || other.Agent == key
		}
		for _, other := range e.s.dialogues {
			others = others || other.Agent == key
		}
		if others {
			e.receipt.Kept++
		} else {
			e.checkpoint(key)
		}
	}
	if s.Thread != "" {
		e.thread(s.Thread)
	}
}

func (r *reference) setTTL(s *scope, o *agent.SetTTL) (agent.OpResult, *agent.Error) {
	if o.Thread != "" {
		t, err := r.open(s, o.Thread, o.IfIncarnation)
		if err != nil {
			return nil, err
		}
		if t.Incarnation == 0 {
			return nil, notFound("thread")
		}
		t.ExpiresAt = expiry(r.now, o.TTL)
		s.threads[t.ID] = t
		return &agent.ThreadResult{Thread: t.Thread}, nil
	}
	session, ok := s.sessions.Sessions[o.Session]
	if !ok {
		return nil, notFound("session")
	}
	session.ExpiresAt = expiry(r.now, o.TTL)
	session.Revision++
	s.sessions.Sessions[o.Session] = session
	return &agent.SessionResult{Session: s.sessions.Shown(sessionHost{r, s}, o.Session).SessionRow}, nil
}

// namedBy returns the agent of a conversation after a write.
func (s *scope) namedBy(ref *agent.ConversationRef) string {
	if c := s.dialogues[ref.ID]; c != nil && c.Agent != "" {
		return ""
	}
	return ref.Agent
}

// sealedAgent refuses an op that creates data of an erased and sealed agent.
func (s *scope) sealedAgent(op agent.Op) *agent.Error {
	name := ""
	switch o := op.(type) {
	case *agent.WriteMemory:
		name = o.Agent
	case *agent.PutSession:
		name = o.Agent
	case *agent.PendMessage:
		name = s.namedBy(&o.ConversationRef)
	case *agent.SetInterrupted:
		name = s.namedBy(&o.ConversationRef)
	}
	return s.alive("agent", name, 0, 0)
}
