package audit

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"dormouse/access"
	"dormouse/agent"
)

// denials records the refused calls of a service.
type denials struct {
	agent.Submitter
	r *Recorder
}

// Denials returns a service that records the calls which the given one refuses because of who makes
// them.
func (r *Recorder) Denials(guarded agent.Submitter) agent.Submitter { return &denials{guarded, r} }

// commit records a refused commit: the op that was refused.
func (d *denials) commit(ctx context.Context, c *agent.Commit, err error) {
	if !denied(err) {
		return
	}
	at := opOf(err)
	if at >= len(c.Ops) {
		d.r.Denied(ctx, access.Subject{Scope: c.Scope}, err)
		return
	}
	rec := opRecord(ctx, KindDenial, c.Scope, c.Ops[at])
	_, rec.Object = ruleOf(c.Ops[at])
	d.r.refused(rec, err)
}

// opOf returns the number of the op or read that err is about, or 0.
func opOf(err error) int {
	var e *agent.Error
	if errors.As(err, &e) {
		return max(0, e.Op)
	}
	return 0
}

// Submit implements agent.Submitter.
func (d *denials) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	d.Submitter.Submit(ctx, c, func(result agent.Result, err error) {
		d.commit(ctx, &c, err)
		done(result, err)
	})
}

// Commit implements agent.Service.
func (d *denials) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	result, err := d.Submitter.Commit(ctx, c)
	d.commit(ctx, &c, err)
	return result, err
}

// Read implements agent.Service.
func (d *denials) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	answers, err := d.Submitter.Read(ctx, r)
	if err != nil {
		if denied(err) && len(r.Reads) > 0 {
			d.read(ctx, &r, opOf(err), err)
		}
		return answers, err
	}
	for i := range answers.Answers {
		if e := answers.Answers[i].Err; e != nil && denied(e) {
			d.read(ctx, &r, i, e)
		}
	}
	return answers, nil
}

func (d *denials) read(ctx context.Context, r *agent.Reads, at int, err error) {
	rec := of(ctx, KindDenial, "")
	if at < len(r.Reads) {
		rec.Action, rec.Verb = nameOf(r.Reads[at]), verbs(access.OfRead(r.Reads[at]))
	}
	rec.Scope = cmp.Or(r.Scope, agent.DefaultScope)
	d.r.refused(rec, err)
}

// Watch implements agent.Service.
func (d *denials) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return observed(d.Submitter.Watch(ctx, w), func(err error) {
		rec := of(ctx, KindDenial, "watch")
		rec.Verb, rec.Scope = string(agent.VerbRead), cmp.Or(w.Scope, agent.DefaultScope)
		d.r.refused(rec, err)
	})
}

// observed yields events, and calls refused with an error that refuses them.
func observed[E any](events iter.Seq2[E, error], refused func(error)) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		for event, err := range events {
			if denied(err) {
				refused(err)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}
