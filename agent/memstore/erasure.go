package memstore

import (
	"maps"
	"slices"

	"dormouse/agent"
)

// eraseAgent removes an agent; the erasure is complete at once.
func (st *Store) eraseAgent(s *scope, o *agent.EraseAgent) (agent.OpResult, *agent.Error) {
	var revision, incarnation uint64
	if now := s.checkpoint(o.Agent); now != nil {
		revision, incarnation = now.Revision, now.Incarnation
	}
	if err := atRevision(o.IfRevision, revision); err != nil {
		return nil, err
	}
	if o.IfIncarnation != 0 && o.IfIncarnation != incarnation {
		return nil, agent.Errorf(agent.CodeDeleted, "incarnation %d of agent %q is deleted", o.IfIncarnation, o.Agent)
	}
	e := &eraser{Store: st, s: s, o: o, receipt: &agent.Erasure{
		Agent: o.Agent, Index: st.index.Load(), ErasedAt: s.now, CompletedAt: s.now, SealedUntil: s.expiry(o.Seal),
		Conversations: new(uint64), Hash: agent.WitnessErasure(s.Name, o.Agent, st.index.Load(), s.now),
	}}
	e.all()
	if old := s.erasures[o.Agent]; old != nil && e.removed == 0 {
		e.receipt = old
	}
	s.removed("checkpoint", o.Agent, incarnation, o.Seal)
	s.removed("agent", o.Agent, incarnation, o.Seal)
	s.erasures[o.Agent] = e.receipt
	return e.receipt, nil
}

// eraser removes an agent from a scope.
type eraser struct {
	*Store
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
		delete(e.s.memories, memoryName{m.Agent, m.ID})
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
	e.instance()
}

// instance removes the timers of an agent that is an instance.
func (e *eraser) instance() {
	manager, key, ok := agent.InstanceOf(e.o.Agent)
	if !ok {
		return
	}
	timers := uint64(0)
	for name := range e.s.timers {
		if name.Manager == manager && name.Key == key {
			delete(e.s.timers, name)
			timers++
		}
	}
	if e.receipt.Timers = timers; timers > 0 {
		e.witness("timers", e.o.Agent, timers)
	}
	if e.removed > 0 {
		e.receipt.Instances = 1
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
	if _, err, _ := e.s.sessions.Apply(sessionHost{e.Store, e.s}, &agent.DeleteSession{Session: id, Seal: e.o.Seal}); err != nil {
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
