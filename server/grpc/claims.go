package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type claims struct {
	apipb.UnimplementedClaimsServer
	*front
}

func (s *claims) Take(ctx context.Context, req *apipb.TakeClaimRequest) (*apipb.ClaimResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_TakeClaim{TakeClaim: req.Take}})
}

func (s *claims) Renew(ctx context.Context, req *apipb.RenewClaimRequest) (*apipb.ClaimResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_RenewClaim{RenewClaim: req.Renew}})
}

func (s *claims) Release(ctx context.Context, req *apipb.ReleaseClaimRequest) (*apipb.ClaimResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ReleaseClaim{ReleaseClaim: req.Release}})
}

// change commits one op on a claim.
func (s *claims) change(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.ClaimResponse, error) {
	res, err := s.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	claim, err := found(res.Results[0].GetClaim(), nil)
	return &apipb.ClaimResponse{Index: res.Index, Claim: claim}, err
}

func (s *claims) Get(ctx context.Context, req *apipb.GetClaimRequest) (*apipb.Claim, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetClaim{GetClaim: req.Get}})
	return found(a.GetClaim(), err)
}

func (s *claims) List(ctx context.Context, req *apipb.ListRequest) (*apipb.ClaimList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListClaims{ListClaims: req.Page}})
	return found(a.GetClaims(), err)
}
