package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type sessions struct {
	apipb.UnimplementedSessionsServer
	*front
}

func (s *sessions) Put(ctx context.Context, req *apipb.PutSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PutSession{PutSession: req.Put}})
}

func (s *sessions) Claim(ctx context.Context, req *apipb.ClaimSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ClaimSession{ClaimSession: req.Claim}})
}

func (s *sessions) Resume(ctx context.Context, req *apipb.ResumeSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ResumeSession{ResumeSession: req.Resume}})
}

func (s *sessions) Recover(ctx context.Context, req *apipb.RecoverSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_RecoverSession{RecoverSession: req.Recover}})
}

func (s *sessions) Checkpoint(ctx context.Context, req *apipb.CheckpointSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_CheckpointSession{CheckpointSession: req.Checkpoint}})
}

func (s *sessions) Commit(ctx context.Context, req *apipb.CommitSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_CommitSession{CommitSession: req.Commit}})
}

func (s *sessions) Renew(ctx context.Context, req *apipb.RenewSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_RenewSession{RenewSession: req.Renew}})
}

func (s *sessions) Cancel(ctx context.Context, req *apipb.CancelSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_CancelSession{CancelSession: req.Cancel}})
}

func (s *sessions) Fork(ctx context.Context, req *apipb.ForkSessionRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, &apipb.Op{Op: &apipb.Op_ForkSession{ForkSession: req.Fork}})
}

// SetTTL says when a session goes by itself.
func (s *sessions) SetTTL(ctx context.Context, req *apipb.SetTTLRequest) (*apipb.SessionResponse, error) {
	return s.change(ctx, req.Context, ttlOf(&apipb.SetTTL{Session: req.Id}, req))
}

// change commits one op on a session.
func (s *sessions) change(ctx context.Context, c *apipb.Context, op *apipb.Op) (*apipb.SessionResponse, error) {
	res, err := s.do(ctx, c, op)
	if err != nil {
		return nil, err
	}
	session, err := found(res.Results[0].GetSession(), nil)
	return &apipb.SessionResponse{Index: res.Index, Session: session}, err
}

func (s *sessions) Delete(ctx context.Context, req *apipb.DeleteSessionRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteSession{DeleteSession: req.Delete}})
}

func (s *sessions) Get(ctx context.Context, req *apipb.GetSessionRequest) (*apipb.Session, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetSession{GetSession: req.Get}})
	return found(a.GetSession(), err)
}

func (s *sessions) List(ctx context.Context, req *apipb.ListSessionsRequest) (*apipb.SessionList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListSessions{ListSessions: req.List}})
	return found(a.GetSessions(), err)
}
