package memstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
)

// clientName names a client that numbers its requests.
type clientName struct{ scope, name string }

// client holds the answers that a client may still ask for.
type client struct {
	answers map[uint64]answer // by number of the request
	low     uint64            // answers to lower numbers were dropped
	until   int64             // Unix ms: when the last answer's ttl ends
}

// answer is the outcome of a request.
type answer struct {
	body    string
	until   int64 // Unix ms: it is kept until then
	decided agent.Decided
}

// once decides a commit, or returns the answer to the same request from before.
func (st *Store) once(c agent.Commit) agent.Decided {
	if c.Request.Client == "" {
		return st.decide(c)
	}
	name, body := clientName{c.Scope, c.Request.Client}, describe(c.Ops)
	from := st.clients[name]
	if from == nil {
		from = &client{answers: map[uint64]answer{}}
		st.clients[name] = from
	}
	from.forget(st.wall())
	known, ok := from.answers[c.Request.Seq]
	switch {
	case ok && known.body != body:
		return refused(agent.Errorf(agent.CodeIdempotencyMismatch, "request %d was another commit", c.Request.Seq))
	case ok:
		return known.decided
	case c.Request.Seq < from.low:
		return refused(agent.Errorf(agent.CodeRequestExpired, "the answer to request %d is no longer kept", c.Request.Seq))
	}
	low := max(from.low, min(c.Request.Low, c.Request.Seq))
	kept := 0
	for seq := range from.answers {
		if seq >= low {
			kept++
		}
	}
	if kept >= agent.RequestWindowMax {
		return refused(overloaded("request_window_max", agent.RequestWindowMax))
	}
	decided := st.decide(c)
	if e := decided.Err; e != nil && !e.Final {
		return decided // another attempt may still apply
	}
	ttl := c.Request.TTL
	if ttl == 0 {
		ttl = agent.RequestTTLDefault
	}
	from.low = low
	until := st.now + ttl.Milliseconds()
	from.until = max(from.until, until)
	from.answers[c.Request.Seq] = answer{body, until, decided}
	maps.DeleteFunc(from.answers, func(seq uint64, _ answer) bool { return seq < low })
	return decided
}

// forget drops the answers whose ttl has ended, up to the first that is kept. It
// forgets the whole client when the last ttl has ended.
func (c *client) forget(now int64) {
	if c.until <= now {
		*c = client{answers: map[uint64]answer{}}
		return
	}
	for _, seq := range slices.Sorted(maps.Keys(c.answers)) {
		if c.answers[seq].until > now {
			return
		}
		delete(c.answers, seq)
		c.low = max(c.low, seq+1)
	}
}

// describe returns ops as text, to compare requests with the same number.
func describe(ops []agent.Op) string {
	var b strings.Builder
	for _, op := range ops {
		text, err := json.Marshal(op)
		if err != nil {
			panic(err) // an op has only fields that JSON can encode
		}
		fmt.Fprintf(&b, "%T%s\n", op, text)
	}
	return b.String()
}

// refused returns a refusal as the state machine does: one that asks for a retry is
// not final.
func refused(e *agent.Error) agent.Decided {
	e.Final = e.Code != agent.CodeOverloaded && e.Code != agent.CodeQuotaExceeded
	return agent.Decided{Err: e}
}

// overloaded returns an error with the limit that was reached.
func overloaded(limit string, most uint64) *agent.Error {
	e := agent.Errorf(agent.CodeOverloaded, "the limit %s=%d is reached", limit, most)
	e.Limit = fmt.Sprintf("%s=%d", limit, most)
	return e
}

// getAnswer reads the outcome of a request.
func (st *Store) getAnswer(s *scope, q *agent.GetAnswer) (agent.Found, *agent.Error) {
	if from := st.clients[clientName{s.Name, q.Client}]; from != nil {
		from.forget(st.wall())
		if known, ok := from.answers[q.Seq]; ok {
			return &known.decided, nil
		}
		if q.Seq < from.low {
			return nil, agent.Errorf(agent.CodeRequestExpired, "the answer to request %d is no longer kept", q.Seq)
		}
	}
	return nil, notFound("answer", q.Client)
}
