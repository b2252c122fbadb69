package redis

import (
	"context"
	"errors"
	"slices"
	"time"

	"dormouse/agent"
	"dormouse/internal/budget"
	"dormouse/internal/retry"
)

// execute makes steps at one instant, and returns their replies.
func (c *conn) execute(ctx context.Context, steps []*step) ([]any, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if direct(steps) {
		return c.write(ctx, steps)
	}
	pause := retry.New(retryFirst, retryMost)
	var before cells
	for {
		replies, found, err := c.attempt(ctx, steps)
		sealed := agent.CodeOf(err) == agent.CodeDeleted && found.same(before) // no key has changed since the last attempt
		if err == nil || !moved(err) || sealed {
			return replies, err
		}
		before = found
		if !pause.Wait(ctx) {
			return nil, agent.Errorf(agent.CodeOverloaded, "other clients write the same keys again and again: retry later")
		}
	}
}

// direct reports whether steps can be committed without a read: writes without conditions, or a
// single write whose condition the state machine checks.
func direct(steps []*step) bool {
	for _, s := range steps {
		if !s.writes() || s.when == present || s.when != always && len(steps) > 1 {
			return false
		}
	}
	return true
}

// write commits steps that need no read.
func (c *conn) write(ctx context.Context, steps []*step) ([]any, error) {
	var ops []agent.Op
	for _, s := range steps {
		ops = append(ops, s.ops()...)
	}
	result, err := c.commit(ctx, ops)
	if len(steps) == 1 && steps[0].when != always && agent.CodeOf(err) == agent.CodeRevisionMismatch {
		return []any{steps[0].no}, nil
	}
	if err != nil {
		return nil, err
	}
	replies := make([]any, len(steps))
	at := 0
	for i, s := range steps {
		replies[i] = s.yes
		if s.kind == kindDelete {
			replies[i] = deleted(result.Results[at : at+len(s.keys)])
		}
		at += len(s.keys)
	}
	return replies, nil
}

// deleted returns how many of the keys of a DEL existed.
func deleted(results []agent.OpResult) int64 {
	n := int64(0)
	for _, r := range results {
		if d, ok := r.(*agent.DeleteResult); ok && d.Existed {
			n++
		}
	}
	return n
}

// attempt reads the keys of the steps, makes the steps on what it read, and commits the changes if no
// key has changed since. Steps that only read need no commit. It returns what it read besides the replies.
func (c *conn) attempt(ctx context.Context, steps []*step) ([]any, cells, error) {
	var keys []string
	for _, s := range steps {
		keys = append(keys, s.keys...)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) > readsMax {
		return nil, nil, agent.TooLarge("keys", "reads_max", len(keys), readsMax)
	}
	found, err := c.load(ctx, keys, slices.ContainsFunc(steps, (*step).needsBytes))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now().UnixMilli()
	replies := make([]any, len(steps))
	changed := false
	for i, s := range steps {
		replies[i] = found.apply(s, now)
	}
	ops := make([]agent.Op, len(keys))
	for i, key := range keys {
		ops[i] = found[key].op(key)
		changed = changed || found[key].changed
	}
	if !changed {
		return replies, found, nil
	}
	_, err = c.commit(ctx, ops)
	return replies, found, err
}

// moved reports whether a commit failed because a key has changed since it was read.
func moved(err error) bool {
	switch agent.CodeOf(err) {
	case agent.CodeRevisionMismatch, agent.CodeDeleted, agent.CodeNotFound:
		return true
	default:
		return false
	}
}

// load reads keys at one index, with their bytes or without. The bytes count as in flight until the reply is written.
func (c *conn) load(ctx context.Context, keys []string, withBytes bool) (cells, error) {
	reads := make([]agent.Read, len(keys))
	for i, key := range keys {
		if withBytes {
			reads[i] = &agent.GetValue{Key: key}
		} else {
			reads[i] = &agent.ListValues{Page: agent.Page{Prefix: key, Limit: 1}} // key is the first with this prefix
		}
	}
	answers, err := c.read(ctx, reads)
	if err != nil {
		return nil, err
	}
	found := make(cells, len(keys))
	for i, a := range answers {
		found[keys[i]] = &cell{}
		if agent.CodeOf(errorOf(a.Err)) == agent.CodeNotFound {
			continue
		}
		if a.Err != nil {
			return nil, a.Err
		}
		switch answer := a.Found.(type) {
		case *agent.Value:
			found[keys[i]] = &cell{revision: answer.Revision, incarnation: answer.Incarnation, exists: true, bytes: answer.Bytes, expiresAt: answer.ExpiresAt}
		case *agent.ValueList:
			if len(answer.Items) > 0 && answer.Items[0].Key == keys[i] {
				found[keys[i]] = &cell{exists: true, expiresAt: answer.Items[0].ExpiresAt}
			}
		default:
			return nil, agent.Errorf(agent.CodeInternal, "the answer to a read of a value is a %T", a.Found)
		}
	}
	return found, nil
}

// errorOf returns e as an error, nil for nil.
func errorOf(e *agent.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// read makes reads at one index. What an earlier attempt of the command has read is given back.
func (c *conn) read(ctx context.Context, reads []agent.Read) ([]agent.Answer, error) {
	c.unload()
	ctx, work := budget.WithWork(ctx, c.server.o.Bytes, c.caller)
	defer work.Done()
	answers, err := c.server.service.Read(ctx, agent.Reads{Scope: c.server.o.Scope, Reads: reads})
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, a := range answers.Answers {
		if v, ok := a.Found.(*agent.Value); ok {
			size += int64(len(v.Bytes))
		}
	}
	if size < countedLeast {
		return answers.Answers, nil
	}
	if !c.server.o.Bytes.Try(c.caller, size) {
		return nil, overloaded()
	}
	c.loaded = size
	return answers.Answers, nil
}

// unload gives back what was read for a reply.
func (c *conn) unload() {
	c.server.o.Bytes.Give(c.caller, c.loaded)
	c.loaded = 0
}

// commit commits ops under a request id, so that it can be sent again while its outcome is unknown. An
// error that is not unknown means that nothing was applied.
func (c *conn) commit(ctx context.Context, ops []agent.Op) (agent.Result, error) {
	c.seq++
	pause := retry.New(retryFirst, retryMost)
	var unknown error
	for {
		result, err := c.server.service.Commit(ctx, agent.Commit{
			Scope: c.server.o.Scope, Ops: ops,
			Request: agent.Request{Client: c.client, Seq: c.seq, Low: c.seq, TTL: requestTTL},
		})
		switch {
		case err == nil || final(err):
			return result, err
		case agent.OutcomeOf(err) == agent.Undecided:
			unknown = err
		case unknown == nil: // this is the only attempt so far, and it was not applied
			return agent.Result{}, err
		}
		if !pause.Wait(ctx) {
			return agent.Result{}, unknown
		}
	}
}

// final reports whether an error holds for every attempt of a commit.
func final(err error) bool {
	var e *agent.Error
	return errors.As(err, &e) && e.Final
}
