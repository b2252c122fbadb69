package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type memories struct {
	apipb.UnimplementedMemoriesServer
	*front
}

func (s *memories) Write(ctx context.Context, req *apipb.WriteMemoryRequest) (*apipb.MemoryResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_WriteMemory{WriteMemory: req.Write}})
	if err != nil {
		return nil, err
	}
	memory, err := found(res.Results[0].GetMemory(), nil)
	return &apipb.MemoryResponse{Index: res.Index, Memory: memory}, err
}

func (s *memories) Delete(ctx context.Context, req *apipb.DeleteMemoryRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteMemory{DeleteMemory: req.Delete}})
}

func (s *memories) Get(ctx context.Context, req *apipb.GetMemoryRequest) (*apipb.Memory, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetMemory{GetMemory: req.Get}})
	return found(a.GetMemory(), err)
}

func (s *memories) List(ctx context.Context, req *apipb.ListMemoriesRequest) (*apipb.MemoryList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListMemories{ListMemories: req.List}})
	return found(a.GetMemories(), err)
}

func (s *memories) Recall(ctx context.Context, req *apipb.RecallRequest) (*apipb.Recalled, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_Recall{Recall: req.Recall}})
	return found(a.GetRecalled(), err)
}
