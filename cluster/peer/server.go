package peer

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/cluster/assign"
	"dormouse/cluster/keys"
	"dormouse/cluster/membership"
	peerpb "dormouse/proto/peer"
)

// Node is the node that a server answers for: a cluster.RemoteView.
type Node interface {
	LocalStatus() membership.PeerStatus
	HandleJoin(ctx context.Context, r membership.JoinRequest) membership.JoinResponse
	HandleFounding(ctx context.Context, r membership.FoundingRequest) (membership.FoundingResponse, error)
	HandleChange(ctx context.Context, kind, node string) membership.ChangeResponse
	HandleAssign(ctx context.Context, r assign.Request) assign.Response
	HandleRule(ctx context.Context, r assign.Rule) assign.Response
	FollowTable(ctx context.Context, asked <-chan uint64, send func(assign.TableUpdate) error) error
	BarrierFor(ctx context.Context, node string, term, applied uint64) (uint64, error)
	Term() (node string, term uint64)
}

// Register serves node on s.
func Register(s *grpc.Server, node Node) { peerpb.RegisterPeerServer(s, server{node: node}) }

type server struct {
	peerpb.UnimplementedPeerServer
	node Node
}

func (s server) Status(context.Context, *peerpb.StatusRequest) (*peerpb.StatusResponse, error) {
	return statusToProto(s.node.LocalStatus()), nil
}

func (s server) Join(ctx context.Context, r *peerpb.JoinRequest) (*peerpb.JoinResponse, error) {
	return joinResponseToProto(s.node.HandleJoin(ctx, joinRequestFromProto(r))), nil
}

func (s server) GrantFounding(ctx context.Context, r *peerpb.GrantFoundingRequest) (*peerpb.GrantFoundingResponse, error) {
	a, err := s.node.HandleFounding(ctx, membership.FoundingRequest{
		Node: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, Founding: r.Founding,
	})
	if err != nil {
		return nil, toStatus(err)
	}
	return &peerpb.GrantFoundingResponse{Granted: a.Granted, ClusterId: a.ClusterID, Holder: a.Holder}, nil
}

// Own refuses requests in the name of another node than the one that shook hands.
func (s server) Own(ctx context.Context, r *peerpb.OwnRequest) (*peerpb.OwnResponse, error) {
	asked := ownRequestFromProto(r)
	caller, _ := callerOf(ctx)
	if caller.Node != asked.Node || caller.Incarnation != asked.Incarnation || asked.Host != nil && asked.Host.ID != caller.Node {
		return nil, status.Errorf(codes.PermissionDenied, "node %q asks in the name of node %q", caller.Node, asked.Node)
	}
	asked.FromHost = caller.Role == keys.Host
	return ownResponseToProto(s.node.HandleAssign(ctx, asked)), nil
}

func (s server) Change(ctx context.Context, r *peerpb.ChangeRequest) (*peerpb.ChangeResponse, error) {
	c := s.node.HandleChange(ctx, r.Kind, r.Node)
	return &peerpb.ChangeResponse{Leader: c.Leader, LeaderAddr: c.LeaderAddr, Done: c.Done, Refused: c.Refused}, nil
}

func (s server) SetRule(ctx context.Context, r *peerpb.SetRuleRequest) (*peerpb.OwnResponse, error) {
	return ownResponseToProto(s.node.HandleRule(ctx, assign.Rule{Kind: assign.RuleKind(r.Kind), Node: r.Node, Partition: int(r.Partition)})), nil
}
