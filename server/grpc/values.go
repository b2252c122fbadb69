package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type values struct {
	apipb.UnimplementedValuesServer
	*front
}

func (s *values) Put(ctx context.Context, req *apipb.PutValueRequest) (*apipb.ValueResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PutValue{PutValue: req.Put}})
	if err != nil {
		return nil, err
	}
	value, err := found(res.Results[0].GetValue(), nil)
	return &apipb.ValueResponse{Index: res.Index, Value: value}, err
}

func (s *values) Delete(ctx context.Context, req *apipb.DeleteValueRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteValue{DeleteValue: req.Delete}})
}

func (s *values) Revise(ctx context.Context, req *apipb.ReviseValueRequest) (*apipb.ValueResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ReviseValue{ReviseValue: req.Revise}})
	if err != nil {
		return nil, err
	}
	value, err := found(res.Results[0].GetValue(), nil)
	return &apipb.ValueResponse{Index: res.Index, Value: value}, err
}

func (s *values) Get(ctx context.Context, req *apipb.GetValueRequest) (*apipb.Value, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetValue{GetValue: req.Get}})
	return found(a.GetValue(), err)
}

func (s *values) List(ctx context.Context, req *apipb.ListRequest) (*apipb.ValueList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListValues{ListValues: req.Page}})
	return found(a.GetValues(), err)
}
