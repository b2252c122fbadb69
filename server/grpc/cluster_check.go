package grpc

import (
	"context"

	"google.golang.org/grpc/metadata"

	"dormouse/agent"
	"dormouse/api/convert"
)

// checkCluster returns an error if a call names another cluster than this node's, and otherwise the
// header that names this node's cluster.
func (s *Server) checkCluster(ctx context.Context) (metadata.MD, *agent.Error) {
	if s.cluster == nil {
		return nil, nil
	}
	mine := s.cluster()
	header := metadata.Pairs(convert.ClusterHeader, mine)
	for _, wanted := range metadata.ValueFromIncomingContext(ctx, convert.ClusterHeader) {
		if wanted != "" && wanted != mine {
			return header, errOtherCluster(mine, wanted)
		}
	}
	return header, nil
}

func errOtherCluster(mine, wanted string) *agent.Error {
	if mine == "" {
		return agent.Errorf(agent.CodeUnavailable, "this node belongs to no cluster yet, but the call is for cluster %s", wanted)
	}
	return agent.Errorf(agent.CodeUnavailable, "this node belongs to cluster %s, but the call is for cluster %s: check the endpoints", mine, wanted)
}
