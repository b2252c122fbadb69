package grpc

import (
	"context"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

type store struct {
	apipb.UnimplementedStoreServer
	*api
}

func (s *store) Commit(ctx context.Context, req *apipb.CommitRequest) (*apipb.CommitResponse, error) {
	return s.commit(ctx, req)
}

func (s *store) Read(ctx context.Context, req *apipb.ReadRequest) (*apipb.ReadResponse, error) {
	return s.read(ctx, req)
}

// Watch ends without an error after compacted or deleted, and when the client disconnects. It ends
// with unavailable when this node stops: the client resumes on another node.
func (s *store) Watch(req *apipb.WatchRequest, stream apipb.Store_WatchServer) error {
	ctx, cancel := s.whileServing(stream.Context())
	defer cancel()
	for event, err := range s.service.Watch(ctx, convert.WatchFromProto(req)) {
		if err != nil {
			return statusOf(errorOf(err, false))
		}
		if err := stream.Send(convert.EventToProto(&event)); err != nil {
			return err
		}
		if event.Last() {
			return nil
		}
	}
	return statusOf(agent.Errorf(agent.CodeUnavailable, "the watch ended; resume it"))
}
