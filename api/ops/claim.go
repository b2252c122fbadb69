package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

func claimOpToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.TakeClaim:
		out.Op = &oppb.Op_TakeClaim{TakeClaim: &oppb.TakeClaim{Claim: op.Claim, Holder: op.Holder, TtlMs: Millis(op.TTL)}}
	case *agent.RenewClaim:
		out.Op = &oppb.Op_RenewClaim{RenewClaim: &oppb.RenewClaim{
			Claim: op.Claim, Holder: op.Holder, Epoch: op.Epoch, TtlMs: Millis(op.TTL),
		}}
	case *agent.ReleaseClaim:
		out.Op = &oppb.Op_ReleaseClaim{ReleaseClaim: &oppb.ReleaseClaim{
			Claim: op.Claim, Holder: op.Holder, Epoch: op.Epoch, To: op.To, TtlMs: Millis(op.TTL),
		}}
	default:
		sessionOpToProto(out, op)
	}
}

func claimOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_TakeClaim:
		if c := o.TakeClaim; c != nil {
			ttl, err := Duration("ttl_ms", c.TtlMs)
			return &agent.TakeClaim{Claim: c.Claim, Holder: c.Holder, TTL: ttl}, err
		}
	case *oppb.Op_RenewClaim:
		if c := o.RenewClaim; c != nil {
			ttl, err := Duration("ttl_ms", c.TtlMs)
			return &agent.RenewClaim{Claim: c.Claim, Holder: c.Holder, Epoch: c.Epoch, TTL: ttl}, err
		}
	case *oppb.Op_ReleaseClaim:
		if c := o.ReleaseClaim; c != nil {
			ttl, err := Duration("ttl_ms", c.TtlMs)
			return &agent.ReleaseClaim{Claim: c.Claim, Holder: c.Holder, Epoch: c.Epoch, To: c.To, TTL: ttl}, err
		}
	default:
		return sessionOpFromProto(op)
	}
	return nil, noKind()
}

// ClaimToProto converts a claim to protobuf.
func ClaimToProto(c *agent.Claim) *oppb.Claim {
	return &oppb.Claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TtlMs: Millis(c.TTL), ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}
}

// ClaimFromProto converts a claim from protobuf. A value that package
// agent cannot represent is an error.
func ClaimFromProto(c *oppb.Claim) (*agent.Claim, error) {
	if c == nil {
		return nil, NoAnswer()
	}
	ttl, err := Duration("ttl_ms", c.TtlMs)
	return &agent.Claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TTL: ttl, ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}, err
}
