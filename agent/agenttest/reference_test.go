package agenttest_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"

	"dormouse/agent"
	"dormouse/agent/agenttest"
)

// The suite must pass on a simple Service: Go maps behind one mutex, copied before
// each commit and restored when it is refused.
func TestSuiteOnTheReference(t *testing.T) {
	shared := newReference()
	agenttest.Run(t, func(t *testing.T) agent.Service {
		t.Helper()
		t.Parallel()
		return shared
	})
}

// reference keeps all state in memory. It shares no code with fsm, so that it
// can serve as its model.
type reference struct {
	mu      sync.Mutex
	index   uint64
	now     int64
	minted  uint64
	scopes  map[string]*scope
	answers map[string]map[uint64]answer // by scope and client
	lows    map[string]uint64
	feeds   map[string]feed
	changed chan struct{} // closed by each commit, then replaced
}

type answer struct {
	body   string
	result agent.Result
	err    *agent.Error
}

func newReference() *reference {
	return &reference{
		now: 1_700_000_000_000, scopes: map[string]*scope{}, changed: make(chan struct{}),
		answers: map[string]map[uint64]answer{}, lows: map[string]uint64{}, feeds: map[string]feed{},
	}
}

// scope is the contents of a scope. Values in its maps are immutable.
type scope struct {
	agent.Scope
	exists      bool
	values      map[string]*agent.Value
	checkpoints map[string][]*agent.Checkpoint // kept revisions, newest first
	threads     map[string]*thread
	claims      map[string]*holding
	memories    map[string]*memory // by agent and id
	dialogues   agenttest.ConversationModel
	managers    map[string]agent.Manager
	timers      agenttest.TimerModel
	sessions    agenttest.SessionModel
	erasures    map[string]*agent.Erasure // by agent
	sealed      map[string]uint64         // noun and id → the deleted incarnation
}

// thread is a thread from its floor on: heads[i] is the head before entries[i].
type thread struct {
	agent.Thread
	entries []agent.Entry
	heads   []agent.Head // one more than entries
}

func newScope(name string) *scope {
	return &scope{
		Scope:    agent.Scope{Name: name},
		erasures: map[string]*agent.Erasure{},
		values:   map[string]*agent.Value{}, checkpoints: map[string][]*agent.Checkpoint{}, threads: map[string]*thread{}, claims: map[string]*holding{}, memories: map[string]*memory{}, sealed: map[string]uint64{}, sessions: agenttest.NewSessionModel(), dialogues: agenttest.ConversationModel{}, managers: map[string]agent.Manager{}, timers: agenttest.TimerModel{},
	}
}

func (s *scope) clone() *scope {
	c := *s
	c.values, c.checkpoints, c.threads, c.sealed = maps.Clone(s.values), maps.Clone(s.checkpoints), maps.Clone(s.threads), maps.Clone(s.sealed)
	c.claims, c.memories = maps.Clone(s.claims), maps.Clone(s.memories)
	c.sessions, c.dialogues = s.sessions.Clone(), maps.Clone(s.dialogues)
	c.managers, c.timers = maps.Clone(s.managers), s.timers.Clone()
	c.erasures = maps.Clone(s.erasures)
	return &c
}

// scope returns the scope of that name, or an empty one.
func (r *reference) scope(name string) *scope {
	if s := r.scopes[name]; s != nil {
		return s
	}
	return newScope(name)
}

func (r *reference) mint() uint64 {
	r.minted++
	return r.minted
}

func (r *reference) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	if err := c.Validate(); err != nil {
		return agent.Result{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index++
	r.now++
	result, refusal := r.once(c)
	if refusal != nil {
		return agent.Result{}, refusal
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return result, nil
}

// once decides a commit, or returns the stored decision.
func (r *reference) once(c agent.Commit) (agent.Result, *agent.Error) {
	if c.Request.Client == "" {
		return r.decide(c)
	}
	client, body := c.Scope+"\x00"+c.Request.Client, ""
	for _, op := range c.Ops {
		body += fmt.Sprintf("%T%s\n", op, describe(op))
	}
	if known, ok := r.answers[client][c.Request.Seq]; ok {
		if known.body != body {
			return agent.Result{}, final(agent.Errorf(agent.CodeIdempotencyMismatch, "another commit"))
		}
		return known.result, known.err
	}
	if c.Request.Seq < r.lows[client] {
		return agent.Result{}, final(agent.Errorf(agent.CodeRequestExpired, "below low"))
	}
	result, refusal := r.decide(c)
	if r.answers[client] == nil {
		r.answers[client] = map[uint64]answer{}
	}
	r.lows[client] = max(r.lows[client], c.Request.Low)
	r.answers[client][c.Request.Seq] = answer{body, result, refusal}
	maps.DeleteFunc(r.answers[client], func(seq uint64, _ answer) bool { return seq < r.lows[client] })
	return result, refusal
}

func final(e *agent.Error) *agent.Error {
	e.Final = true
	return e
}

// decide applies all ops to a copy of the scope, and stores it if all succeed.
func (r *reference) decide(c agent.Commit) (agent.Result, *agent.Error) {
	before := r.scope(c.Scope)
	stood := before.picture()
	before.lapse()
	before.forget(r.now)
	before.sessions.Pass(sessionHost{r, before})
	s := before.clone()
	if refusal := s.fenced(c.Fence); refusal != nil {
		return agent.Result{}, final(refusal)
	}
	if !s.exists {
		s.exists, s.CreatedAt = true, r.now
	}
	result := agent.Result{Index: r.index, Time: r.now}
	var changes []agent.Changed
	for i, op := range c.Ops {
		done, refusal := r.op(s, op)
		stands := s.picture()
		changes, stood = r.tell(op, changes, stood, stands), stands
		if refusal != nil {
			refusal.Op = i
			return agent.Result{}, final(refusal)
		}
		result.Results = append(result.Results, done)
	}
	s.count()
	if p := s.Policy; (p.KeysMax > 0 && s.Keys > p.KeysMax && s.Keys > before.Keys) || (p.BytesMax > 0 && s.Bytes > p.BytesMax && s.Bytes > before.Bytes) {
		e := agent.Errorf(agent.CodeOverloaded, "the scope is full")
		e.Limit = fmt.Sprintf("keys_max=%d, bytes_max=%d", p.KeysMax, p.BytesMax)
		return agent.Result{}, e
	}
	r.scopes[c.Scope] = s
	r.record(s, changes)
	if _, whole := c.Ops[0].(*agent.DeleteScope); whole {
		delete(r.scopes, c.Scope)
		r.feeds[c.Scope] = feed{floor: r.index + 1, gone: r.index}
	}
	return result, nil
}

func (s *scope) count() {
	s.Keys = uint64(len(s.values) + len(s.checkpoints) + len(s.threads) + len(s.claims) + len(s.sessions.Sessions) + len(s.memories) + len(s.dialogues) + len(s.managers))
	s.Bytes = s.dialogues.Bytes()
	for _, m := range s.managers {
		s.Bytes += uint64(m.Size())
	}
	for _, m := range s.memories {
		s.Bytes += m.size
	}
	for _, v := range s.values {
		s.Bytes += uint64(len(v.Bytes) + len(v.Metadata))
	}
	for _, kept := range s.checkpoints {
		for _, c := range kept {
			s.Bytes += uint64(len(c.State) + len(c.Metadata))
		}
	}
	for _, t := range s.threads {
		for _, e := range t.entries {
			s.Bytes += uint64(len(e.Payload) + len(e.Refs))
		}
	}
}

// Watch polls after each commit.
func (r *reference) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.Event{}, err)
			return
		}
		if w.Changes {
			r.watchChanges(ctx, w, yield)
			return
		}
		if w.Claim != "" {
			r.watchClaim(ctx, w, yield)
			return
		}
		incarnation := w.Incarnation
		for from := w.From; ; {
			r.mu.Lock()
			t, changed := r.scope(w.Scope).threads[w.Thread], r.changed
			r.mu.Unlock()
			switch {
			case incarnation == 0 && t == nil:
				yield(agent.Event{}, notFound("thread"))
				return
			case incarnation != 0 && (t == nil || t.Incarnation != incarnation):
				yield(agent.Event{Kind: agent.EventDeleted}, nil)
				return
			case t != nil && from < t.Floor:
				yield(agent.Event{Kind: agent.EventCompacted, Floor: t.Floor}, nil)
				return
			case t != nil:
				incarnation = t.Incarnation
				for _, e := range agent.Slice(t.entries, from, t.Rev) {
					if !yield(agent.Event{Entry: e}, nil) {
						return
					}
					from++
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// sorted returns the keys of a map that a page selects, in order, and Next.
func sorted[V any](m map[string]V, p agent.Page) (keys []string, next string) {
	limit := int(p.Limit)
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key <= p.After || len(key) < len(p.Prefix) || key[:len(p.Prefix)] != p.Prefix {
			continue
		}
		if len(keys) == limit {
			return keys, keys[limit-1]
		}
		keys = append(keys, key)
	}
	return keys, ""
}
