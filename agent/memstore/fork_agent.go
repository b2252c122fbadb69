package memstore

import "dormouse/agent"

// forkAgent copies an agent in one commit.
func forkAgent(st *Store, s *scope, o *agent.ForkAgent) (agent.OpResult, *agent.Error) {
	now := s.checkpoint(o.Agent)
	if now == nil {
		return nil, notFound("checkpoint", o.Agent)
	}
	if err := first(s.alive("checkpoint", o.Agent, o.IfIncarnation, now.Incarnation), atRevision(o.IfRevision, now.Revision)); err != nil {
		return nil, err
	}
	source, err := s.revision(o.Agent, o.Revision)
	if err != nil {
		return nil, err
	}
	if s.checkpoint(o.NewAgent) != nil || len(s.of(o.NewAgent)) > 0 {
		return nil, agent.Errorf(agent.CodeAlreadyExists, "there is an agent %q already", o.NewAgent)
	}
	forked := &agent.ForkedAgent{}
	if o.Session != "" {
		if forked.Session, err = forkAgentSession(st, s, o, source.Thread); err != nil {
			return nil, err
		}
	}
	put := &agent.PutCheckpoint{Key: o.NewAgent, Version: source.Version, State: source.State, Lifecycle: source.Lifecycle, Metadata: source.Metadata}
	if p := source.Thread; p != nil {
		put.Thread = &agent.Pointer{Thread: o.NewThread, Rev: p.Rev}
		if p.Incarnation != 0 {
			if s.threads[p.Thread] == nil {
				return nil, agent.Errorf(agent.CodeMissingThread, "there is no thread %q", p.Thread)
			}
			done, err := st.forkThread(s, &agent.ForkThread{Thread: p.Thread, NewThread: o.NewThread, AtRev: &p.Rev})
			if err != nil {
				return nil, err
			}
			forked.Thread = &done.Thread
		}
	}
	done, err := st.putCheckpoint(s, put)
	if err != nil {
		return nil, err
	}
	forked.Checkpoint = *done
	if memories := s.of(o.Agent); !o.WithoutMemory {
		if len(memories) > agent.ForkMemoriesMax {
			return nil, agent.TooLarge("agent", "fork_memories_max", len(memories), agent.ForkMemoriesMax)
		}
		for _, m := range memories {
			copied := *m
			copied.Agent, copied.Revision, copied.Incarnation = o.NewAgent, 1, done.Incarnation
			if o.Session != "" && copied.Session == o.Session {
				copied.Session = o.NewSession
			}
			s.memories[memoryName{o.NewAgent, m.ID}] = &copied
			forked.Memories++
		}
	}
	return forked, nil
}

// forkAgentSession copies a session of a forked agent, whose checkpoint points to p.
func forkAgentSession(st *Store, s *scope, o *agent.ForkAgent, p *agent.Pointer) (*agent.SessionRow, *agent.Error) {
	source, ok := s.sessions.Sessions[o.Session]
	switch {
	case !ok:
		return nil, notFound("session", o.Session)
	case source.Agent != o.Agent, source.Thread != "" && p != nil && source.Thread != p.Thread:
		return nil, agent.Errorf(agent.CodeInvalid, "session %q belongs to another agent or thread", o.Session)
	}
	h := sessionHost{st, s}
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
