package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var claimCodecs = []opCodec{
	codec(encodeTakeClaim, (*oppb.Op).GetTakeClaim, decodeTakeClaim),
	codec(encodeRenewClaim, (*oppb.Op).GetRenewClaim, decodeRenewClaim),
	codec(encodeReleaseClaim, (*oppb.Op).GetReleaseClaim, decodeReleaseClaim),
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

func encodeTakeClaim(out *oppb.Op, o *agent.TakeClaim) {
	out.Op = &oppb.Op_TakeClaim{TakeClaim: &oppb.TakeClaim{Claim: o.Claim, Holder: o.Holder, TtlMs: Millis(o.TTL)}}
}

func decodeTakeClaim(p *oppb.TakeClaim) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.TakeClaim{Claim: p.Claim, Holder: p.Holder, TTL: ttl}, err
}

func encodeRenewClaim(out *oppb.Op, o *agent.RenewClaim) {
	out.Op = &oppb.Op_RenewClaim{RenewClaim: &oppb.RenewClaim{
		Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, TtlMs: Millis(o.TTL),
	}}
}

func decodeRenewClaim(p *oppb.RenewClaim) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.RenewClaim{Claim: p.Claim, Holder: p.Holder, Epoch: p.Epoch, TTL: ttl}, err
}

func encodeReleaseClaim(out *oppb.Op, o *agent.ReleaseClaim) {
	out.Op = &oppb.Op_ReleaseClaim{ReleaseClaim: &oppb.ReleaseClaim{
		Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, To: o.To, TtlMs: Millis(o.TTL),
	}}
}

func decodeReleaseClaim(p *oppb.ReleaseClaim) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.ReleaseClaim{Claim: p.Claim, Holder: p.Holder, Epoch: p.Epoch, To: p.To, TTL: ttl}, err
}
