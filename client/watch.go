package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/retry"
	"dormouse/internal/seededbug"
	apipb "dormouse/proto/api"
)

// Watch yields a thread's entries, each once and in order, the holder of a claim, or
// the changes of a scope; see agent.Service. If a node fails, it continues on another
// one, after the last entry or change. If the thread was deleted meanwhile, even if it
// was created again, or imported with fewer entries than the watch has yielded, the
// watch ends with EventDeleted. It ends without an error when ctx ends.
func (c *Client) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	if w.Scope == "" {
		w.Scope = c.o.Scope
	}
	return func(yield func(agent.Event, error) bool) {
		s := &watching{client: c, w: w, incarnation: w.Incarnation, backoff: retry.New(backoffFirst, backoffMost)}
		for {
			err := s.once(ctx, yield)
			switch {
			case ctx.Err() != nil || errors.Is(err, errEnough):
				return
			case err != nil && (c.pool.ctx.Err() != nil || !agent.Retryable(err) && agent.CodeOf(err) != agent.CodeUnknown):
				yield(agent.Event{}, err)
				return
			}
			select {
			case <-time.After(s.backoff.Next()):
			case <-ctx.Done():
				return
			}
		}
	}
}

// errEnough ends a watch: the consumer stopped, or the last event was yielded.
var errEnough = errors.New("the watch has ended")

// watching is one watch with all of its streams.
type watching struct {
	client      *Client
	w           agent.Watch // From is the next seq; of changes, From and Skip are the next position
	reached     uint64      // of a thread: the rev at which the last yielded entry was its last; 0 before that
	incarnation uint64      // of the watched thread; 0 before it is known
	held        *uint64     // of a claim: the epoch yielded last; nil before that
	backoff     *retry.Backoff
}

// once watches through one stream until it ends.
func (s *watching) once(ctx context.Context, yield func(agent.Event, error) bool) error {
	same, err := s.same(ctx)
	if err != nil {
		return err
	}
	if !same {
		yield(agent.Event{Kind: agent.EventDeleted}, nil)
		return errEnough
	}
	used, err := s.client.pool.wait(ctx)
	if err != nil {
		return err
	}
	defer used.release()
	l := used.link
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := s.w
	w.Incarnation = s.incarnation // the thread may have been deleted and created again since same
	// If the link breaks, end the stream, so that the watch continues on another node.
	stop := context.AfterFunc(l.stream.Context(), cancel)
	defer stop()
	stream, err := apipb.NewStoreClient(used).Watch(ctx, convert.WatchToProto(w))
	if err != nil {
		return s.broke(l, err)
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return agent.Errorf(agent.CodeUnavailable, "the watch ended early")
		}
		if err != nil {
			return s.broke(l, err)
		}
		event, err := convert.EventFromProto(m)
		if err != nil {
			return err
		}
		if err := s.give(event, yield); err != nil {
			return err
		}
	}
}

// same reports whether the thread is still the watched incarnation, which a seq does
// not tell, and has the entries that were yielded: an import keeps the incarnation.
// Nothing is watched before the incarnation is known: a missing thread could be
// created, deleted and created again before a stream breaks.
func (s *watching) same(ctx context.Context) (bool, error) {
	if s.w.Claim != "" || s.w.Changes { // epochs and indexes identify the position
		return true, nil
	}
	answers, err := s.client.Read(ctx, agent.Reads{Scope: s.w.Scope, Reads: []agent.Read{&agent.GetThread{Thread: s.w.Thread}}})
	if err != nil {
		return false, err
	}
	if len(answers.Answers) != 1 {
		return false, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	var incarnation, rev uint64
	switch a := answers.Answers[0]; {
	case a.Err == nil:
		if t, ok := a.Found.(*agent.Thread); ok {
			incarnation, rev = t.Incarnation, t.Rev
		}
	case a.Err.Code != agent.CodeNotFound && a.Err.Code != agent.CodeDeleted:
		return false, a.Err
	}
	if s.incarnation == 0 {
		if incarnation == 0 {
			return false, agent.Errorf(agent.CodeNotFound, "there is no thread %s to watch", s.w.Thread)
		}
		s.incarnation = incarnation
	}
	return s.incarnation == incarnation && rev >= s.reached, nil
}

func (s *watching) broke(l *link, err error) error {
	switch {
	case seededbug.Is(seededbug.WatchSkipsOnReconnect):
		s.w.From++
	case seededbug.Is(seededbug.WatchRepeatsOnReconnect) && s.w.From > 0:
		s.w.From--
	}
	e := errorOf(err, false)
	if agent.Retryable(e) {
		s.client.pool.markUnhealthy(l)
	}
	return e
}

// give yields one event, unless it was yielded before.
func (s *watching) give(event agent.Event, yield func(agent.Event, error) bool) error {
	s.backoff.Reset()
	switch {
	case event.Last():
		yield(event, nil)
		return errEnough
	case event.Kind == agent.EventClaim:
		return s.giveClaim(event, yield)
	case event.Kind == agent.EventChanges:
		return s.giveChanges(event, yield)
	}
	switch seq := event.Entry.Seq; {
	case seq < s.w.From:
		return nil
	case seq > s.w.From:
		return agent.Errorf(agent.CodeInternal, "the watch jumped from seq %d to %d", s.w.From, seq)
	}
	s.w.From++
	s.reached = s.w.From
	if !yield(event, nil) {
		return errEnough
	}
	return nil
}

func (s *watching) giveClaim(event agent.Event, yield func(agent.Event, error) bool) error {
	if s.held != nil && *s.held == event.Claim.Epoch {
		return nil // yielded before the watch was resumed
	}
	s.held = &event.Claim.Epoch
	if !yield(event, nil) {
		return errEnough
	}
	return nil
}
