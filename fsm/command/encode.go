package command

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/internal/utf8pb"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

// EncodeCommit encodes a validated commit for the log. It is encoded once, and decoded only by
// apply. notAfterTick is the tick after which apply refuses it; 0 if it has no request id.
//
// The ops come first, so that their hash is computed from the bytes just written. The hash detects
// a request id that is reused with another body.
func EncodeCommit(c *agent.Commit, notAfterTick uint64) ([]byte, error) {
	block := make([]oppb.Op, len(c.Ops)) // one allocation for all
	body := logpb.Commit{Ops: make([]*oppb.Op, len(c.Ops))}
	for i, op := range c.Ops {
		if err := encodable(op); err != nil {
			return nil, fmt.Errorf("encode op %d: %w", i, err)
		}
		ops.ToProto(&block[i], op)
		body.Ops[i] = &block[i]
	}
	opsBytes := body.EncodedSize()
	raw := make([]byte, opsBytes, opsBytes+restBytes+len(c.Scope)+len(c.Request.Client)+len(c.Principal)+len(c.Token))
	body.EncodeBackward(raw)
	rest := logpb.Commit{
		Scope: c.Scope, Client: c.Request.Client, Seq: c.Request.Seq, Low: c.Request.Low,
		NotAfterTick: notAfterTick, Principal: c.Principal, Token: c.Token, BodyHash: xxhash.Sum64(raw),
	}
	if rest.Scope == "" {
		rest.Scope = agent.DefaultScope
	}
	if c.Fence != nil {
		rest.Fence = &logpb.Fence{Claim: c.Fence.Claim, Epoch: c.Fence.Epoch, Agent: c.Fence.Agent, Since: c.Fence.Since}
	}
	raw = slices.Grow(raw, rest.EncodedSize())[:opsBytes+rest.EncodedSize()]
	rest.EncodeBackward(raw[opsBytes:])
	if err := commitShape.Check(raw); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	return raw, nil
}

// restBytes is about the size of a commit without its ops and names.
const restBytes = 64

// commitShape lists the string fields of a commit. Apply does not check strings again, so invalid
// UTF-8 must not enter the log.
var commitShape = utf8pb.Of((&logpb.Commit{}).ProtoReflect().Descriptor())

// EncodeLogCommit encodes a commit of log ops, such as cluster ops. Like EncodeCommit it checks
// that strings are UTF-8.
func EncodeLogCommit(c *logpb.Commit) []byte {
	raw := Marshal(c)
	if err := commitShape.Check(raw); err != nil {
		panic(fmt.Sprintf("encode commit: %v", err)) // only invalid UTF-8 can cause this, and ids are checked
	}
	return raw
}

// encodable refuses an op that a log entry cannot hold.
func encodable(op agent.Op) error {
	switch o := op.(type) {
	case nil:
		return agent.Invalid("op", "the op is missing")
	case *agent.DeleteValue:
		if o.IfBytes != nil && *o.IfBytes == nil {
			return agent.Invalid("if_bytes", "a delete cannot require that the value is missing")
		}
	case *agent.PutCheckpoint:
		if o.Thread != nil {
			return validHead("thread.head", o.Thread.Head)
		}
	case *agent.AppendThread:
		return validHead("expected_head", o.ExpectedHead)
	}
	return nil
}

func validHead(field, text string) error {
	if text == "" {
		return nil
	}
	if head, err := hex.DecodeString(text); err != nil || len(head) != len(agent.Head{}) {
		return agent.Invalid(field, "a head has %d hex digits", 2*len(agent.Head{}))
	}
	return nil
}

// Millis rounds up: a positive duration is at least a millisecond.
func Millis(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}
