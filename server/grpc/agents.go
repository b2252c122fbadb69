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
