package command

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"dormouse/agent"
	"dormouse/api/ops"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

// DecodeLogCommit parses one commit of a batch. Unknown fields are an error, and not skipped: every
// node must decode the same commit. The commit shares raw's memory.
func DecodeLogCommit(raw []byte) (*logpb.Commit, error) {
	c := &logpb.Commit{}
	if err := UnmarshalShared(raw, c); err != nil {
		return nil, fmt.Errorf("decode commit: %w", err)
	}
	if len(c.ProtoReflect().GetUnknown()) > 0 {
		return nil, errNewerCommit
	}
	for _, op := range c.Ops {
		if op.Op == nil || len(op.ProtoReflect().GetUnknown()) > 0 {
			return nil, errNewerCommit
		}
	}
	for _, op := range c.ClusterOps {
		if op.Op == nil || len(op.ProtoReflect().GetUnknown()) > 0 {
			return nil, errNewerCommit
		}
	}
	return c, nil
}

var errNewerCommit = fmt.Errorf("decode commit: it has fields that this version does not know: upgrade this node")

// DecodeCommit is the inverse of EncodeCommit, for commits with ops of package agent only: cluster
// ops are an error.
func DecodeCommit(raw []byte) (c agent.Commit, notAfterTick uint64, err error) {
	p, err := DecodeLogCommit(raw)
	if err != nil {
		return agent.Commit{}, 0, err
	}
	if len(p.ClusterOps) > 0 {
		return agent.Commit{}, 0, fmt.Errorf("decode commit: it has cluster ops")
	}
	c = agent.Commit{
		Scope:     p.Scope,
		Request:   agent.Request{Client: p.Client, Seq: p.Seq, Low: p.Low},
		Principal: p.Principal, Token: p.Token,
		Ops: make([]agent.Op, len(p.Ops)),
	}
	if p.Fence != nil {
		c.Fence = &agent.Fence{Claim: p.Fence.Claim, Epoch: p.Fence.Epoch, Agent: p.Fence.Agent, Since: p.Fence.Since}
	}
	for i, op := range p.Ops {
		if c.Ops[i], err = DecodeOp(op); err != nil {
			return agent.Commit{}, 0, fmt.Errorf("decode op %d: %w", i, err)
		}
	}
	return c, p.NotAfterTick, nil
}

// DecodeOp returns the op of package agent, which shares memory with p. Heads are
// in lower case, as the state machine compares their text.
func DecodeOp(p *oppb.Op) (agent.Op, error) {
	op, err := ops.FromProto(p)
	if err != nil {
		return nil, err
	}
	switch o := op.(type) {
	case *agent.AppendThread:
		o.ExpectedHead = strings.ToLower(o.ExpectedHead)
	case *agent.PutCheckpoint:
		if o.Thread != nil {
			o.Thread.Head = strings.ToLower(o.Thread.Head)
		}
	}
	return op, nil
}

// DecodePointer converts a pointer to a thread; nil stays nil.
func DecodePointer(p *logpb.Pointer) *agent.Pointer {
	if p == nil {
		return nil
	}
	return &agent.Pointer{
		Thread: p.Thread, Rev: p.Rev, Head: hex.EncodeToString(p.Head), Incarnation: p.Incarnation,
	}
}

// Duration returns a number of milliseconds as a duration.
func Duration(ms uint64) time.Duration { return time.Duration(ms) * time.Millisecond }

// OrEmptyObject returns raw, or {} if it is empty.
func OrEmptyObject(raw agent.JSON) agent.JSON {
	if len(raw) == 0 {
		return agent.JSON("{}")
	}
	return raw
}

// DecodeCheckpointRow decodes the row of the checkpoint under key.
func DecodeCheckpointRow(key string, raw []byte) (*logpb.CheckpointRow, error) {
	return Decode[logpb.CheckpointRow](raw, "checkpoint", key)
}
