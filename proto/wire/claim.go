package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func claimOpToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.TakeClaim:
		out.Op = &apipb.Op_TakeClaim{TakeClaim: &apipb.TakeClaim{Claim: op.Claim, Holder: op.Holder, TtlMs: millis(op.TTL)}}
	case *agent.RenewClaim:
		out.Op = &apipb.Op_RenewClaim{RenewClaim: &apipb.RenewClaim{
			Claim: op.Claim, Holder: op.Holder, Epoch: op.Epoch, TtlMs: millis(op.TTL),
		}}
	case *agent.ReleaseClaim:
		out.Op = &apipb.Op_ReleaseClaim{ReleaseClaim: &apipb.ReleaseClaim{
			Claim: op.Claim, Holder: op.Holder, Epoch: op.Epoch, To: op.To, TtlMs: millis(op.TTL),
		}}
	default:
		sessionOpToProto(out, op)
	}
}

func claimOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_TakeClaim:
		if c := o.TakeClaim; c != nil {
			ttl, err := duration("ttl_ms", c.TtlMs)
			return &agent.TakeClaim{Claim: c.Claim, Holder: c.Holder, TTL: ttl}, err
		}
	case *apipb.Op_RenewClaim:
		if c := o.RenewClaim; c != nil {
			ttl, err := duration("ttl_ms", c.TtlMs)
			return &agent.RenewClaim{Claim: c.Claim, Holder: c.Holder, Epoch: c.Epoch, TTL: ttl}, err
		}
	case *apipb.Op_ReleaseClaim:
		if c := o.ReleaseClaim; c != nil {
			ttl, err := duration("ttl_ms", c.TtlMs)
			return &agent.ReleaseClaim{Claim: c.Claim, Holder: c.Holder, Epoch: c.Epoch, To: c.To, TTL: ttl}, err
		}
	default:
		return sessionOpFromProto(op)
	}
	return nil, noKind()
}

func claimToProto(c *agent.Claim) *apipb.Claim {
	return &apipb.Claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TtlMs: millis(c.TTL), ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}
}

func claimFromProto(c *apipb.Claim) (*agent.Claim, error) {
	if c == nil {
		return nil, noAnswer()
	}
	ttl, err := duration("ttl_ms", c.TtlMs)
	return &agent.Claim{
		Name: c.Name, Holder: c.Holder, Epoch: c.Epoch, TTL: ttl, ClaimedAt: c.ClaimedAt, ExpiresAt: c.ExpiresAt,
	}, err
}

func claimListToProto(l *agent.ClaimList) *apipb.ClaimList {
	out := &apipb.ClaimList{Items: make([]*apipb.Claim, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = claimToProto(&l.Items[i])
	}
	return out
}

func claimListFromProto(l *apipb.ClaimList) (agent.Found, error) {
	out := &agent.ClaimList{Items: make([]agent.Claim, len(l.GetItems())), Next: l.GetNext()}
	for i, c := range l.GetItems() {
		claim, err := claimFromProto(c)
		if err != nil {
			return nil, err
		}
		out.Items[i] = *claim
	}
	return out, nil
}
