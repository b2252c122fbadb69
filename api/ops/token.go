package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var tokenCodecs = []opCodec{
	codec(encodePutToken, (*oppb.Op).GetPutToken, decodePutToken),
	codec(encodeRevokeToken, (*oppb.Op).GetRevokeToken, decodeRevokeToken),
}

func encodePutToken(out *oppb.Op, o *agent.PutToken) {
	out.Op = &oppb.Op_PutToken{PutToken: &oppb.PutToken{
		Hash: o.Hash[:], Principal: o.Principal, Grants: GrantsToProto(o.Grants), TtlMs: Millis(o.TTL), Founding: o.Founding,
	}}
}

func decodePutToken(p *oppb.PutToken) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	op := &agent.PutToken{Principal: p.Principal, Grants: GrantsFromProto(p.Grants), TTL: ttl, Founding: p.Founding}
	if len(p.Hash) != len(op.Hash) {
		return nil, agent.Invalid("hash", "hash has %d bytes, and must have the %d of a SHA-256", len(p.Hash), len(op.Hash))
	}
	copy(op.Hash[:], p.Hash)
	return op, nil
}

func encodeRevokeToken(out *oppb.Op, o *agent.RevokeToken) {
	out.Op = &oppb.Op_RevokeToken{RevokeToken: &oppb.RevokeToken{Id: o.ID}}
}

func decodeRevokeToken(p *oppb.RevokeToken) (agent.Op, error) {
	return &agent.RevokeToken{ID: p.Id}, nil
}

// GrantsToProto converts grants to protobuf.
func GrantsToProto(grants []agent.Grant) []*oppb.Grant {
	if len(grants) == 0 {
		return nil
	}
	out := make([]*oppb.Grant, len(grants))
	for i, g := range grants {
		verbs := make([]string, len(g.Verbs))
		for n, verb := range g.Verbs {
			verbs[n] = string(verb)
		}
		out[i] = &oppb.Grant{Scopes: g.Scopes, Verbs: verbs}
	}
	return out
}

// GrantsFromProto converts grants from protobuf.
func GrantsFromProto(grants []*oppb.Grant) []agent.Grant {
	if len(grants) == 0 {
		return nil
	}
	out := make([]agent.Grant, len(grants))
	for i, g := range grants {
		out[i].Scopes = g.GetScopes()
		for _, verb := range g.GetVerbs() {
			out[i].Verbs = append(out[i].Verbs, agent.Verb(verb))
		}
	}
	return out
}

// TokenToProto converts a token to protobuf.
func TokenToProto(t *agent.Token) *oppb.Token {
	return &oppb.Token{
		Id: t.ID, Principal: t.Principal, Grants: GrantsToProto(t.Grants), CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy,
		ExpiresAt: t.ExpiresAt, LastUsed: t.LastUsed,
	}
}

// TokenFromProto converts a token from protobuf.
func TokenFromProto(p *oppb.Token) *agent.Token {
	return &agent.Token{
		ID: p.GetId(), Principal: p.GetPrincipal(), Grants: GrantsFromProto(p.GetGrants()), CreatedAt: p.GetCreatedAt(),
		CreatedBy: p.GetCreatedBy(), ExpiresAt: p.GetExpiresAt(), LastUsed: p.GetLastUsed(),
	}
}
