package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type agents struct {
	apipb.UnimplementedAgentsServer
	*front
}

// Hibernate appends what the journal lacks, then puts the checkpoint, which
// points to the caller's rev unless it names a pointer itself.
func (s *agents) Hibernate(ctx context.Context, req *apipb.HibernateRequest) (*apipb.CheckpointResponse, error) {
	var ops []*apipb.Op
	if t := req.Thread; t != nil {
		if req.Put != nil && req.Put.Thread == nil {
			req.Put.Thread = &apipb.Pointer{Thread: t.Thread, Rev: t.Rev}
		}
		ops = append(ops, &apipb.Op{Op: &apipb.Op_HibernateThread{HibernateThread: t}})
	}
	ops = append(ops, &apipb.Op{Op: &apipb.Op_PutCheckpoint{PutCheckpoint: req.Put}})
	res, err := s.do(ctx, req.Context, ops...)
	if err != nil {
		return nil, err
	}
	checkpoint, err := found(res.Results[len(ops)-1].GetCheckpoint(), nil)
	return &apipb.CheckpointResponse{Index: res.Index, Checkpoint: checkpoint, Thread: res.Results[0].GetThread()}, err
}

func (s *agents) Thaw(ctx context.Context, req *apipb.ThawRequest) (*apipb.Thawed, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_Thaw{Thaw: req.Thaw}})
	return found(a.GetThawed(), err)
}

// Fork makes another agent of one.
func (s *agents) Fork(ctx context.Context, req *apipb.ForkAgentRequest) (*apipb.ForkAgentResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ForkAgent{ForkAgent: req.Fork}})
	if err != nil {
		return nil, err
	}
	forked, err := found(res.Results[0].GetForkedAgent(), nil)
	return &apipb.ForkAgentResponse{Index: res.Index, Forked: forked}, err
}

// Erase removes an agent everywhere. It does not wait until all is cleared
// away: GetErasure tells when.
func (s *agents) Erase(ctx context.Context, req *apipb.EraseAgentRequest) (*apipb.EraseAgentResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_EraseAgent{EraseAgent: req.Erase}})
	if err != nil {
		return nil, err
	}
	erasure, err := found(res.Results[0].GetErasure(), nil)
	return &apipb.EraseAgentResponse{Index: res.Index, Erasure: erasure}, err
}

func (s *agents) GetErasure(ctx context.Context, req *apipb.GetErasureRequest) (*apipb.Erasure, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetErasure{GetErasure: req.Get}})
	return found(a.GetErasure(), err)
}
