package session

import (
	"bytes"
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// queueRetryMS is an estimate of when a turn ends and the queue has space.
const queueRetryMS = 1000

// enqueue adds a request to the queue, and returns its place, from 1. A request that is already
// queued keeps its place: added is then false.
func enqueue(c *txn.Tx, s *Session, op *agent.ClaimSession) (place uint64, added bool, err error) {
	if place, err = waitsInQueue(c, s, op.Request); err != nil || place > 0 {
		return place, false, err
	}
	r := command.EncodeSessionRequest(op.Request)
	r.Owner, r.At, r.Outcome = op.Owner, c.Progress.Wall, string(agent.RequestOpen)
	size := requestBytes(r)
	switch waiting := uint64(len(s.Row.QueueSizes)); {
	case waiting >= s.Row.Settings.QueueMax:
		return 0, false, queueFull(s, "queue_max", s.Row.Settings.QueueMax)
	case sum(s.Row.QueueSizes)+size > agent.SessionQueueBytesMax:
		return 0, false, queueFull(s, "session_queue_bytes_max", agent.SessionQueueBytesMax)
	}
	key := kv.OrdinalKey(kv.KindSessionQueue, c.Scope, s.Id, s.Row.QueueEnd)
	s.Row.QueueEnd++
	s.Row.QueueSizes = append(s.Row.QueueSizes, size)
	c.AddUsage(0, int64(size))
	return uint64(len(s.Row.QueueSizes)), true, setSessionRow(c, key, r)
}

// waitsInQueue returns the place of a request in the queue, 0 if it is not queued. A queued request
// of that id with other content is an error.
func waitsInQueue(c *txn.Tx, s *Session, request *agent.SessionRequest) (place uint64, err error) {
	first := s.Row.QueueEnd - uint64(len(s.Row.QueueSizes))
	for ordinal := first; ordinal < s.Row.QueueEnd; ordinal++ {
		queued := &logpb.SessionRequest{}
		if err := sessionsIn(c).numbered(kv.KindSessionQueue, s.Id, ordinal, queued); err != nil {
			return 0, err
		}
		if err := c.Bytes.CountRead(len(queued.Input) + len(queued.Metadata)); err != nil {
			return 0, err
		}
		if queued.Id != request.ID {
			continue
		}
		return ordinal - first + 1, matchQueued(s, queued, request)
	}
	return 0, nil
}

// matchQueued returns an error unless a queued request has the content of the request with its id.
func matchQueued(s *Session, queued *logpb.SessionRequest, request *agent.SessionRequest) error {
	same := command.EncodeSessionRequest(request)
	if bytes.Equal(queued.Input, same.Input) && bytes.Equal(queued.Metadata, same.Metadata) {
		return nil
	}
	e := agent.Errorf(agent.CodeIdempotencyMismatch, "request %q waits for session %q already, with other content: give this one another id", request.ID, s.Id)
	e.State = s.Row.Status
	return e
}

func queueFull(s *Session, limit string, bound uint64) error {
	e := agent.Errorf(agent.CodeOverloaded, "the queue of session %q is full: %s = %d", s.Id, limit, bound)
	e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, bound), queueRetryMS
	return e
}

// nextRequest returns the request that a new turn answers: the first of the queue, or else the one
// of its claim. If others are queued, the claim's request goes to the end of the queue.
func nextRequest(c *txn.Tx, s *Session, op *agent.ClaimSession) (r *logpb.SessionRequest, queued uint64, err error) {
	if len(s.Row.QueueSizes) == 0 {
		if op.Request == nil {
			e := agent.Errorf(agent.CodeSessionQueueEmpty, "no request waits for session %q: claim it with one", s.Id)
			e.State = s.Row.Status
			return nil, 0, e
		}
		r = command.EncodeSessionRequest(op.Request)
		r.Owner = op.Owner
		return r, 0, nil
	}
	if r, err = dequeue(c, s); err != nil {
		return nil, 0, err
	}
	r.Owner = op.Owner
	switch {
	case op.Request == nil:
	case op.Request.ID != r.Id:
		queued, _, err = enqueue(c, s, op)
	case c.Level >= txn.SameRequestLevel:
		err = matchQueued(s, r, op.Request)
	}
	return r, queued, err
}

func dequeue(c *txn.Tx, s *Session) (*logpb.SessionRequest, error) {
	key := kv.OrdinalKey(kv.KindSessionQueue, c.Scope, s.Id, s.Row.QueueEnd-uint64(len(s.Row.QueueSizes)))
	raw, err := c.Rows.Get(key)
	if err != nil {
		return nil, err
	}
	r := &logpb.SessionRequest{}
	if err := command.Unmarshal(raw, r); err != nil || raw == nil {
		return nil, fmt.Errorf("decode the head of the queue of session %q: %w", s.Id, err)
	}
	c.Rows.Remove(key)
	c.AddUsage(0, -int64(s.Row.QueueSizes[0]))
	s.Row.QueueSizes = s.Row.QueueSizes[1:]
	return r, nil
}

func clearQueue(c *txn.Tx, s *Session) error {
	for len(s.Row.QueueSizes) > 0 {
		if _, err := dequeue(c, s); err != nil {
			return err
		}
	}
	return nil
}
