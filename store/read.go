package store

import (
	"context"
	"time"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// Read implements agent.Service: linearizable on the leader, stale on any node.
func (s *Store) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	if r.Stale {
		return s.ReadAt(ctx, 0, r)
	}
	index, err := s.o.Group.Barrier(ctx)
	if err != nil {
		return agent.Answers{}, err
	}
	return s.ReadAt(ctx, index, r)
}

// Applied returns the newest entry that reads on this node see.
func (s *Store) Applied() uint64 { return s.o.Machine.Applied() }

// ReadAt answers r from this node's own state, at index or later. r has been validated. A stale
// read is unavailable until this node has applied the log that it had when it started.
func (s *Store) ReadAt(ctx context.Context, index uint64, r agent.Reads) (agent.Answers, error) {
	if r.Stale {
		if err := s.o.Group.Replayed(); err != nil {
			return agent.Answers{}, err
		}
	}
	if err := s.await(ctx, max(index, r.MinIndex)); err != nil {
		return agent.Answers{}, err
	}
	scope := r.Scope
	if scope == "" {
		scope = agent.DefaultScope
	}
	leave, err := s.enter(ctx, r.Reads)
	if err != nil {
		return agent.Answers{}, err
	}
	defer leave()
	age := s.age(r.Stale)
	answers, ok, err := s.answer(scope, r.Reads, true)
	for range hastyTries {
		if ok || err != nil {
			break
		}
		answers, ok, err = s.answer(scope, r.Reads, true)
	}
	if !ok && err == nil {
		answers, _, err = s.answer(scope, r.Reads, false)
	}
	answers.AgeMS = age
	return answers, err
}

// hastyTries is how often a read whose index was overtaken is retried at once.
const hastyTries = 3

// answer answers all reads from one view. If hasty it may fail: see fsm.View.TryAnswer. Answers that
// are too large together are an error.
func (s *Store) answer(scope string, reads []agent.Read, hasty bool) (answers agent.Answers, ok bool, err error) {
	view := s.o.Machine.View()
	defer view.Close()
	answers = agent.Answers{Index: view.Index(), Node: s.o.Node, Answers: make([]agent.Answer, len(reads))}
	size := 0
	for i, read := range reads {
		var answer agent.Answer
		if !hasty {
			answer = view.Answer(scope, read)
		} else if answer, ok = view.TryAnswer(scope, read); !ok {
			return agent.Answers{}, false, nil
		}
		if answer.Err != nil && answer.Err.Op < 0 {
			refusal := *answer.Err
			refusal.Op = i
			answer.Err = &refusal
		}
		answers.Answers[i] = answer
		if len(reads) > 1 {
			if size += answerBytes(answer.Found); size > AnswerBytesMax {
				return agent.Answers{}, false, agent.TooLarge("answer", "reply_bytes_max", size, AnswerBytesMax)
			}
		}
	}
	return answers, true, nil
}

// await waits until this node has applied index. A read that times out has no answer, so the error
// has code unavailable.
func (s *Store) await(ctx context.Context, index uint64) error {
	if index <= s.o.Machine.Applied() || seededbug.Is(seededbug.ReadDoesNotWait) {
		return nil
	}
	if err := s.o.Machine.WaitApplied(ctx, index); err != nil {
		return agent.Errorf(agent.CodeUnavailable, "node %s has applied %d, not yet %d: %v", s.o.Node, s.o.Machine.Applied(), index, err)
	}
	return nil
}

// age returns how old a stale read's answer may be, in milliseconds.
func (s *Store) age(stale bool) int64 {
	if !stale {
		return 0
	}
	at := s.o.UpToDate()
	if at.IsZero() {
		return -1
	}
	return max(0, time.Since(at).Milliseconds())
}
