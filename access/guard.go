package access

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"dormouse/agent"
)

// Tokens is the state of tokens on this node.
type Tokens interface {
	// Live reports whether a token exists and has not expired, as of the newest entry that this
	// node has applied.
	Live(id string) bool

	// LastUsed returns when this node last saw a token, in Unix ms; 0 means not since it started.
	LastUsed(id string) int64
}

// Guard is a service that serves each call only if the principal in its context may make it. The
// state machine checks again that the token of a commit was not revoked earlier in the log. A read
// checks its token again once it has an answer, so a linearizable read that begins after a
// revocation is refused.
type Guard struct {
	inner  agent.Submitter
	tokens Tokens
}

// NewGuard returns the guard of a service.
func NewGuard(inner agent.Submitter, tokens Tokens) *Guard { return &Guard{inner, tokens} }

// Submit implements agent.Submitter.
func (g *Guard) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	if err := mayCommit(From(ctx), &c); err != nil {
		done(agent.Result{}, err)
		return
	}
	g.inner.Submit(ctx, c, done)
}

// Commit implements agent.Service.
func (g *Guard) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if err := mayCommit(From(ctx), &c); err != nil {
		return agent.Result{}, err
	}
	return g.inner.Commit(ctx, c)
}

// mayCommit returns an error unless p may make the commit. It adds p to the commit.
func mayCommit(p *Principal, c *agent.Commit) error {
	if p == nil {
		return unauthenticated()
	}
	if err := p.current(); err != nil {
		return err
	}
	scope := cmp.Or(c.Scope, agent.DefaultScope)
	for i, op := range c.Ops {
		if err := mayApply(p, op, scope); err != nil {
			err.Op = i
			return err
		}
	}
	c.Principal, c.Token = p.Name, p.TokenID
	return nil
}

func mayApply(p *Principal, op agent.Op, scope string) *agent.Error {
	n, unknown := needOfOp(op)
	if unknown != nil {
		return unknown
	}
	if refusal := p.check(n, scope); refusal != nil {
		return refusal
	}
	if put, ok := op.(*agent.PutToken); ok && put != nil {
		return p.mayCreate(put)
	}
	return nil
}

// Read implements agent.Service. A read that p may not make is answered with its error, unless p
// may make none of them.
func (g *Guard) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	p := From(ctx)
	if p == nil {
		return agent.Answers{}, unauthenticated()
	}
	refused, allowed := sort(p, r)
	if len(allowed) == 0 && len(r.Reads) > 0 {
		return agent.Answers{}, refused[0]
	}
	asked := r
	if len(refused) > 0 {
		asked.Reads = allowed
	}
	answers, err := g.inner.Read(ctx, asked)
	if err != nil {
		return agent.Answers{}, err
	}
	if err := live(g.tokens, p); err != nil {
		return agent.Answers{}, err
	}
	if err := g.finish(ctx, p, r.Scope, asked.Reads, &answers); err != nil {
		return agent.Answers{}, err
	}
	if len(refused) > 0 {
		answers.Answers = merge(answers.Answers, refused, len(r.Reads))
	}
	return answers, nil
}

// sort returns the errors of the reads that p may not make, by their position, and the other reads.
func sort(p *Principal, r agent.Reads) (refused map[int]*agent.Error, allowed []agent.Read) {
	refused = map[int]*agent.Error{}
	for i, read := range r.Reads {
		n, refusal := needOf(readNeeds, read)
		if refusal == nil {
			refusal = p.check(n, cmp.Or(r.Scope, agent.DefaultScope))
		}
		if refusal == nil {
			allowed = append(allowed, read)
			continue
		}
		refusal.Op = i
		refused[i] = refusal
	}
	return refused, allowed
}

// merge puts the errors back between the answers, and numbers the answers' own errors again.
func merge(answers []agent.Answer, refused map[int]*agent.Error, n int) []agent.Answer {
	out := make([]agent.Answer, 0, n)
	for i := range n {
		if refusal, ok := refused[i]; ok {
			out = append(out, agent.Answer{Err: refusal})
			continue
		}
		next := answers[0]
		answers = answers[1:]
		if next.Err != nil && next.Err.Op >= 0 {
			e := *next.Err
			e.Op = i
			next.Err = &e
		}
		out = append(out, next)
	}
	return out
}

// finish removes from lists of scopes what p does not see, and adds to tokens when they were last
// used.
func (g *Guard) finish(ctx context.Context, p *Principal, scope string, reads []agent.Read, answers *agent.Answers) error {
	mine := answers.Answers // results must not change: the first change copies them
	for i, a := range answers.Answers {
		found, err := g.shown(ctx, p, scope, reads[i], a.Found, answers.Index)
		if err != nil {
			return err
		}
		if found == a.Found {
			continue
		}
		if &mine[0] == &answers.Answers[0] {
			mine = slices.Clone(mine)
		}
		mine[i].Found = found
	}
	answers.Answers = mine
	return nil
}

// shown returns what p is shown of an answer to a read.
func (g *Guard) shown(ctx context.Context, p *Principal, scope string, read agent.Read, found agent.Found, index uint64) (agent.Found, error) {
	switch found := found.(type) {
	case *agent.ScopeList:
		if asked, ok := read.(*agent.ListScopes); ok {
			return g.visible(ctx, p, scope, asked, found, index)
		}
	case *agent.Token:
		t := *found
		t.LastUsed = g.tokens.LastUsed(t.ID)
		return &t, nil
	case *agent.TokenList:
		list := &agent.TokenList{Next: found.Next, Items: slices.Clone(found.Items)}
		for i := range list.Items {
			list.Items[i].LastUsed = g.tokens.LastUsed(list.Items[i].ID)
		}
		return list, nil
	}
	return found, nil
}

// visible returns the page of the scopes that p sees. It reads further pages, at the same index or
// later, until it has a full one. Its Next is a scope that p sees.
func (g *Guard) visible(ctx context.Context, p *Principal, scope string, asked *agent.ListScopes, page *agent.ScopeList, index uint64) (*agent.ScopeList, error) {
	limit := int(asked.Limit)
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	out := &agent.ScopeList{}
	for {
		for _, s := range page.Items {
			if !p.Sees(s.Name) {
				continue
			}
			if len(out.Items) == limit {
				out.Next = out.Items[limit-1].Name
				return out, nil
			}
			out.Items = append(out.Items, s)
		}
		if page.Next == "" {
			return out, nil
		}
		next := *asked
		next.After, next.Limit = page.Next, agent.ListLimitMax
		answers, err := g.inner.Read(ctx, agent.Reads{Scope: scope, Stale: true, MinIndex: index, Reads: []agent.Read{&next}})
		if err != nil {
			return nil, err
		}
		a := answers.Answers[0]
		if a.Err != nil {
			return nil, a.Err
		}
		list, ok := a.Found.(*agent.ScopeList)
		if !ok {
			return nil, agent.Errorf(agent.CodeInternal, "the answer to ListScopes is a %T", a.Found)
		}
		page = list
	}
}

// Watch implements agent.Service. It ends once the token is revoked or has expired: before the next
// event, or within liveEvery.
func (g *Guard) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	p := From(ctx)
	if p == nil {
		return failed[agent.Event](unauthenticated())
	}
	if refusal := p.check(toRead, cmp.Or(w.Scope, agent.DefaultScope)); refusal != nil {
		return failed[agent.Event](refusal)
	}
	return whileLive(ctx, g.tokens, p, func(ctx context.Context) iter.Seq2[agent.Event, error] { return g.inner.Watch(ctx, w) })
}
