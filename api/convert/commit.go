package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

// commitFrame holds the messages that nearly every commit needs, in one allocation.
type commitFrame struct {
	commit  apipb.CommitRequest
	request apipb.Request
	op      oppb.Op
	ops     [1]*oppb.Op
}

// CommitToProto converts a commit. A node ignores the principal of a commit from a client.
func CommitToProto(c *agent.Commit) *apipb.CommitRequest {
	f := &commitFrame{}
	out := &f.commit
	out.Scope, out.Principal, out.Token = c.Scope, c.Principal, c.Token
	if c.Request != (agent.Request{}) {
		r := &f.request
		r.Client, r.Seq, r.Low, r.TtlMs = c.Request.Client, c.Request.Seq, c.Request.Low, ops.Millis(c.Request.TTL)
		out.Request = r
	}
	if c.Fence != nil {
		out.Fence = &apipb.Fence{Claim: c.Fence.Claim, Epoch: c.Fence.Epoch, Agent: c.Fence.Agent, Since: c.Fence.Since}
	}
	if len(c.Ops) == 1 {
		ops.ToProto(&f.op, c.Ops[0])
		f.ops[0] = &f.op
		out.Ops = f.ops[:]
		return out
	}
	slab := make([]oppb.Op, len(c.Ops))
	out.Ops = make([]*oppb.Op, len(c.Ops))
	for i, op := range c.Ops {
		ops.ToProto(&slab[i], op)
		out.Ops[i] = &slab[i]
	}
	return out
}

// CommitFromProto converts a commit. It refuses ops without a kind, and values that
// package agent cannot represent.
func CommitFromProto(c *apipb.CommitRequest) (agent.Commit, error) {
	if c == nil {
		return agent.Commit{}, agent.Invalid("commit", "there is no commit")
	}
	out := agent.Commit{Scope: c.Scope}
	if r := c.Request; r != nil {
		ttl, err := ops.Duration("request.ttl_ms", r.TtlMs)
		if err != nil {
			return agent.Commit{}, err
		}
		out.Request = agent.Request{Client: r.Client, Seq: r.Seq, Low: r.Low, TTL: ttl}
	}
	if c.Fence != nil {
		out.Fence = &agent.Fence{Claim: c.Fence.Claim, Epoch: c.Fence.Epoch, Agent: c.Fence.Agent, Since: c.Fence.Since}
	}
	if n := len(c.Ops); n > agent.CommitOpsMax {
		return agent.Commit{}, agent.TooLarge("ops", "commit_ops_max", n, agent.CommitOpsMax)
	}
	out.Ops = make([]agent.Op, len(c.Ops))
	for i, op := range c.Ops {
		converted, err := ops.FromProto(op)
		if err != nil {
			return agent.Commit{}, atOp(err, i)
		}
		out.Ops[i] = converted
	}
	return out, nil
}
