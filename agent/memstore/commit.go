package memstore

import (
	"context"
	"fmt"
	"reflect"

	"dormouse/agent"
)

// Commit implements agent.Service.
func (st *Store) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if err := c.Validate(); err != nil {
		return agent.Result{}, err
	}
	if ctx.Err() != nil {
		return agent.Result{}, agent.Errorf(agent.CodeUnavailable, "the call ended before the commit was applied: %v", context.Cause(ctx))
	}
	if st.BeforeCommit != nil {
		if err := st.BeforeCommit(ctx, c); err != nil {
			return agent.Result{}, err
		}
	}
	decided := st.apply(c)
	if st.AfterCommit != nil {
		if err := st.AfterCommit(ctx, c); err != nil {
			return agent.Result{}, err
		}
	}
	if decided.Err != nil {
		return agent.Result{}, decided.Err
	}
	return decided.Result, nil
}

// Submit implements agent.Submitter. It calls done before it returns.
func (st *Store) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	done(st.Commit(ctx, c))
}

func (st *Store) apply(c agent.Commit) agent.Decided {
	st.mu.Lock()
	defer st.mu.Unlock()
	defer st.wake()
	return st.once(c)
}

// decide applies a commit at the next index: all ops to a copy of the scope, which it
// stores if all succeed.
func (st *Store) decide(c agent.Commit) agent.Decided {
	st.index.Add(1)
	st.now = st.wall()
	st.expire()
	before, tokens, defaults := st.scope(c.Scope), st.tokens, st.defaults
	s := before.clone(st.now)
	s.Policy = st.policyOf(s)
	if e := st.tokens.authentic(c.Token, st.now); e != nil {
		return refused(e)
	}
	if e := st.fenced(s, c.Fence); e != nil {
		return refused(e)
	}
	s.principal = c.Principal
	if !s.exists {
		s.exists, s.CreatedAt = true, st.now
	}
	result := agent.Result{Index: st.index.Load(), Time: st.now}
	old := s.picture()
	var changes []agent.Changed
	for i, op := range c.Ops {
		done, e := st.op(s, op)
		if e != nil {
			st.tokens, st.defaults = tokens, defaults
			e.Op = i
			return refused(e)
		}
		now := s.picture()
		changes, old = appendChanges(changes, s, op, old, now), now
		result.Results = append(result.Results, done)
	}
	if e := fits(result); e != nil {
		st.tokens, st.defaults = tokens, defaults
		return refused(e)
	}
	for i := range changes {
		changes[i].Principal = c.Principal
	}
	s.count()
	if e := s.full(before); e != nil {
		st.tokens, st.defaults = tokens, defaults
		return refused(e)
	}
	st.scopes[c.Scope] = s
	st.record(s, changes)
	if _, whole := c.Ops[0].(*agent.DeleteScope); whole {
		delete(st.scopes, c.Scope)
		if before.OwnPolicy && agent.KeepsPolicy(c.Principal) {
			st.scopes[c.Scope] = before.emptied()
		}
		if before.exists {
			st.feeds[c.Scope] = feed{floor: result.Index + 1, gone: result.Index}
		}
	}
	return agent.Decided{Result: result}
}

// fits refuses a commit whose results are too large to keep.
func fits(r agent.Result) *agent.Error {
	if n := contentBytes(reflect.ValueOf(r.Results)); n > agent.OutcomeBytesMax {
		return agent.TooLarge("ops", "outcome_bytes_max", n, agent.OutcomeBytesMax)
	}
	return nil
}

// contentBytes returns the length of all strings and byte slices in a value. It is slightly less than
// the encoded form.
func contentBytes(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return contentBytes(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += contentBytes(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			n += contentBytes(v.Index(i))
		}
	default:
	}
	return n
}

// full refuses a commit that exceeds a quota of the scope, unless it adds nothing.
func (s *scope) full(before *scope) *agent.Error {
	p := s.Policy
	for _, q := range []struct {
		name           string
		most, had, has uint64
	}{
		{"keys_max", p.KeysMax, before.Keys, s.Keys},
		{"bytes_max", p.BytesMax, before.Bytes, s.Bytes},
		{"agents_max", p.AgentsMax, before.Agents, s.Agents},
		{"threads_max", p.ThreadsMax, before.Threads, s.Threads},
		{"entries_max", p.EntriesMax, before.Entries, s.Entries},
		{"timers_max", p.TimersMax, before.Timers, s.Timers},
	} {
		if q.most > 0 && q.has > q.most && q.has > q.had {
			e := agent.Errorf(agent.CodeQuotaExceeded, "scope %q would exceed %s = %d", s.Name, q.name, q.most)
			e.Limit = fmt.Sprintf("%s=%d", q.name, q.most)
			return e
		}
	}
	return nil
}

// fenced refuses a commit whose claim has another holder, or whose agent was erased.
func (st *Store) fenced(s *scope, f *agent.Fence) *agent.Error {
	if f == nil {
		return nil
	}
	if h := s.claims[f.Claim]; h == nil || h.Epoch != f.Epoch {
		return fencedBy(f.Claim, h)
	}
	if f.Agent == "" {
		return nil
	}
	if gone := st.feeds[s.Name].gone; gone > f.Since {
		e := agent.Errorf(agent.CodeDeleted, "scope %q was deleted at index %d", s.Name, gone)
		e.Reason = agent.ReasonErased
		return e
	}
	if receipt := s.erasures[f.Agent]; receipt != nil && receipt.Index > f.Since {
		e := agent.Errorf(agent.CodeDeleted, "agent %q was erased at index %d", f.Agent, receipt.Index)
		e.Reason = agent.ReasonErased
		return e
	}
	return nil
}
