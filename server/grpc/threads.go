package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type threads struct {
	apipb.UnimplementedThreadsServer
	*front
}

func (s *threads) Append(ctx context.Context, req *apipb.AppendThreadRequest) (*apipb.ThreadResponse, error) {
	return s.write(ctx, req.Context, &apipb.Op{Op: &apipb.Op_AppendThread{AppendThread: req.Append}})
}

func (s *threads) Compact(ctx context.Context, req *apipb.CompactThreadRequest) (*apipb.ThreadResponse, error) {
	return s.write(ctx, req.Context, &apipb.Op{Op: &apipb.Op_CompactThread{CompactThread: req.Compact}})
}

func (s *threads) Fork(ctx context.Context, req *apipb.ForkThreadRequest) (*apipb.ThreadResponse, error) {
	return s.write(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ForkThread{ForkThread: req.Fork}})
}

// SetTTL says when a thread goes by itself.
func (s *threads) SetTTL(ctx context.Context, req *apipb.SetTTLRequest) (*apipb.ThreadResponse, error) {
	return s.write(ctx, req.Context, ttlOf(&apipb.SetTTL{Thread: req.Id}, req))
}

// ttlOf is the op that a request asks for, of what it names already.
func ttlOf(of *apipb.SetTTL, req *apipb.SetTTLRequest) *apipb.Op {
	of.TtlMs, of.IfIncarnation = req.TtlMs, req.IfIncarnation
	return &apipb.Op{Op: &apipb.Op_SetTtl{SetTtl: of}}
}

func (s *threads) write(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.ThreadResponse, error) {
	res, err := s.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	thread, err := found(res.Results[0].GetThread(), nil)
	return &apipb.ThreadResponse{Index: res.Index, Thread: thread}, err
}

func (s *threads) Delete(ctx context.Context, req *apipb.DeleteThreadRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteThread{DeleteThread: req.Delete}})
}

func (s *threads) Get(ctx context.Context, req *apipb.GetThreadRequest) (*apipb.Thread, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetThread{GetThread: req.Get}})
	return found(a.GetThread(), err)
}

func (s *threads) Load(ctx context.Context, req *apipb.LoadEntriesRequest) (*apipb.Entries, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_LoadEntries{LoadEntries: req.Load}})
	return found(a.GetEntries(), err)
}

func (s *threads) GetEntry(ctx context.Context, req *apipb.GetEntryRequest) (*apipb.Entry, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetEntry{GetEntry: req.Get}})
	return found(a.GetEntry(), err)
}

func (s *threads) Verify(ctx context.Context, req *apipb.VerifyThreadRequest) (*apipb.Verified, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_VerifyThread{VerifyThread: req.Verify}})
	return found(a.GetVerified(), err)
}

func (s *threads) List(ctx context.Context, req *apipb.ListRequest) (*apipb.ThreadList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListThreads{ListThreads: req.Page}})
	return found(a.GetThreads(), err)
}
