package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type timers struct {
	apipb.UnimplementedTimersServer
	*front
}

func (s *timers) Put(ctx context.Context, req *apipb.PutTimerRequest) (*apipb.TimerResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_PutTimer{PutTimer: req.Put}})
	if err != nil {
		return nil, err
	}
	timer, err := found(res.Results[0].GetTimer(), nil)
	return &apipb.TimerResponse{Index: res.Index, Timer: timer}, err
}

func (s *timers) Delete(ctx context.Context, req *apipb.DeleteTimerRequest) (*apipb.DeleteResponse, error) {
	return s.remove(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DeleteTimer{DeleteTimer: req.Delete}})
}

func (s *timers) Get(ctx context.Context, req *apipb.GetTimerRequest) (*apipb.Timer, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetTimer{GetTimer: req.Get}})
	return found(a.GetTimer(), err)
}

func (s *timers) List(ctx context.Context, req *apipb.ListTimersRequest) (*apipb.TimerList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListTimers{ListTimers: req.List}})
	return found(a.GetTimers(), err)
}
