package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type checkpoints struct {
	apipb.UnimplementedCheckpointsServer
	*front
}

func (s *checkpoints) Put(ctx context.Context, req *apipb.PutCheckpointRequest) (*apipb.CheckpointResponse, error) {
	return s.write(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PutCheckpoint{PutCheckpoint: req.Put}})
}

func (s *checkpoints) Patch(ctx context.Context, req *apipb.PatchCheckpointRequest) (*apipb.CheckpointResponse, error) {
	return s.write(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PatchCheckpoint{PatchCheckpoint: req.Patch}})
}

func (s *checkpoints) write(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.CheckpointResponse, error) {
	res, err := s.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	checkpoint, err := found(res.Results[0].GetCheckpoint(), nil)
	return &apipb.CheckpointResponse{Index: res.Index, Checkpoint: checkpoint}, err
}

func (s *checkpoints) Delete(ctx context.Context, req *apipb.DeleteCheckpointRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteCheckpoint{DeleteCheckpoint: req.Delete}})
}

// remove answers every typed delete.
func (f *front) remove(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.DeleteResponse, error) {
	res, err := f.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	deleted, err := found(res.Results[0].GetDeleted(), nil)
	return &apipb.DeleteResponse{Index: res.Index, Deleted: deleted}, err
}

func (s *checkpoints) Get(ctx context.Context, req *apipb.GetCheckpointRequest) (*apipb.Checkpoint, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetCheckpoint{GetCheckpoint: req.Get}})
	return found(a.GetCheckpoint(), err)
}

func (s *checkpoints) List(ctx context.Context, req *apipb.ListRequest) (*apipb.CheckpointList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListCheckpoints{ListCheckpoints: req.Page}})
	return found(a.GetCheckpoints(), err)
}

func (s *checkpoints) History(ctx context.Context, req *apipb.CheckpointHistoryRequest) (*apipb.CheckpointList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_CheckpointHistory{CheckpointHistory: req.History}})
	return found(a.GetCheckpoints(), err)
}
