package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type scopes struct {
	apipb.UnimplementedScopesServer
	*front
}

func (s *scopes) Put(ctx context.Context, req *apipb.PutScopeRequest) (*apipb.Scope, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PutScope{PutScope: req.Put}})
	if err != nil {
		return nil, err
	}
	return found(res.Results[0].GetScope(), nil)
}

func (s *scopes) Delete(ctx context.Context, req *apipb.DeleteScopeRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteScope{DeleteScope: &apipb.DeleteScope{}}})
}

func (s *scopes) List(ctx context.Context, req *apipb.ListRequest) (*apipb.ScopeList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListScopes{ListScopes: req.Page}})
	return found(a.GetScopes(), err)
}
