package peer

import (
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/ops"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
	"dormouse/cluster/raftlog"
	oppb "dormouse/proto/op"
	peerpb "dormouse/proto/peer"
)

func statusToProto(s membership.PeerStatus) *peerpb.StatusResponse {
	return &peerpb.StatusResponse{
		ClusterId: s.ClusterID, Node: s.Node, Incarnation: s.Incarnation, Leader: s.Leader, LeaderAddr: s.LeaderAddr,
		Term: s.Term, LastIndex: s.LastIndex, AppliedIndex: s.AppliedIndex, CommitIndex: s.CommitIndex, Chain: s.Chain,
		FeatureLevelMax: s.FeatureLevelMax, Version: s.Version, Removed: s.Removed, CatchingUp: s.CatchingUp,
		Founding: s.Founding, MayFound: s.MayFound, FlushUs: uint64(s.FlushTime.Microseconds()), //nolint:gosec // never negative
		DiskFree: s.DiskFree, LeaderEnded: s.LeaderEnded,
	}
}

func statusFromProto(s *peerpb.StatusResponse) membership.PeerStatus {
	return membership.PeerStatus{
		ClusterID: s.ClusterId, Node: s.Node, Incarnation: s.Incarnation, Leader: s.Leader, LeaderAddr: s.LeaderAddr,
		Term: s.Term, LastIndex: s.LastIndex, AppliedIndex: s.AppliedIndex, CommitIndex: s.CommitIndex, Chain: s.Chain,
		FeatureLevelMax: s.FeatureLevelMax, Version: s.Version, Removed: s.Removed, CatchingUp: s.CatchingUp,
		Founding: s.Founding, MayFound: s.MayFound, FlushTime: time.Duration(s.FlushUs) * time.Microsecond, //nolint:gosec // a wrong time only misleads a handover
		DiskFree: s.DiskFree, LeaderEnded: s.LeaderEnded,
	}
}

func joinRequestToProto(r membership.JoinRequest) *peerpb.JoinRequest {
	return &peerpb.JoinRequest{
		Node: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, GrpcAddr: r.GRPCAddr, HttpAddr: r.HTTPAddr,
		GossipAddr: r.GossipAddr, WantVote: r.WantVote, Version: r.Version, FeatureLevelMax: r.FeatureLevelMax,
		Zone: r.Zone, Weight: uint32(max(r.Weight, 0)),
		Empty: r.Empty, ClusterId: r.ClusterID, Run: r.Process,
	}
}

func joinRequestFromProto(r *peerpb.JoinRequest) membership.JoinRequest {
	return membership.JoinRequest{
		Node: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, GRPCAddr: r.GrpcAddr, HTTPAddr: r.HttpAddr,
		GossipAddr: r.GossipAddr, WantVote: r.WantVote, Version: r.Version, FeatureLevelMax: r.FeatureLevelMax,
		Zone: r.Zone, Weight: int(r.Weight),
		Empty: r.Empty, ClusterID: r.ClusterId, Process: r.Run,
	}
}

func joinResponseToProto(r membership.JoinResponse) *peerpb.JoinResponse {
	return &peerpb.JoinResponse{
		ClusterId: r.ClusterID, Leader: r.Leader, LeaderAddr: r.LeaderAddr, Accepted: r.Accepted,
		Refused: r.Refused, GossipAddrs: r.GossipAddrs, AdmittedIndex: r.Admission.Index, AdmittedTerm: r.Admission.Term,
	}
}

func joinResponseFromProto(r *peerpb.JoinResponse) membership.JoinResponse {
	return membership.JoinResponse{
		ClusterID: r.ClusterId, Leader: r.Leader, LeaderAddr: r.LeaderAddr, Accepted: r.Accepted,
		Refused: r.Refused, GossipAddrs: r.GossipAddrs, Admission: raftlog.Admission{Index: r.AdmittedIndex, Term: r.AdmittedTerm},
	}
}

// toStatus carries an *agent.Error through gRPC as a detail.
func toStatus(err error) error {
	var e *agent.Error
	if !errors.As(err, &e) {
		return status.Error(codes.Internal, err.Error())
	}
	s, detailErr := status.New(codes.Unavailable, e.Detail).WithDetails(ops.ErrorToProto(e))
	if detailErr != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return s.Err()
}

// fromStatus is the *agent.Error that a peer's answer carries. A failure of the
// connection itself is unavailable: what peers ask of each other here changes
// nothing, or may be asked again.
func fromStatus(err error) error {
	if refused := refusal(err); refused != nil {
		return refused
	}
	return agent.Errorf(agent.CodeUnavailable, "the peer did not answer: %s", status.Convert(err).Message())
}

// refusal returns the error that the peer answered with, or nil if it did not answer.
func refusal(err error) error {
	for _, detail := range status.Convert(err).Details() {
		if e, ok := detail.(*oppb.Error); ok {
			return ops.ErrorFromProto(e)
		}
	}
	return nil
}

func ownRequestToProto(r assign.Request) *peerpb.OwnRequest {
	p := &peerpb.OwnRequest{
		Kind: string(r.Kind), Node: r.Node, Incarnation: r.Incarnation, Life: r.Process, TtlMs: uint64(r.TTL.Milliseconds()),
		Why: r.Why, Handlers: r.Handlers, Host: hostToProto(r.Host),
	}
	for _, h := range r.Held {
		p.Held = append(p.Held, &peerpb.HeldPartition{Partition: uint32(h.Partition), Epoch: h.Epoch})
	}
	return p
}

func ownRequestFromProto(p *peerpb.OwnRequest) assign.Request {
	r := assign.Request{
		Kind: assign.Kind(p.Kind), Node: p.Node, Incarnation: p.Incarnation, Process: p.Life, TTL: time.Duration(p.TtlMs) * time.Millisecond,
		Why: p.Why, Handlers: p.Handlers, Host: hostFromProto(p),
	}
	for _, h := range p.Held {
		r.Held = append(r.Held, assign.Held{Partition: int(h.Partition), Epoch: h.Epoch})
	}
	return r
}

func ownResponseToProto(r assign.Response) *peerpb.OwnResponse {
	return &peerpb.OwnResponse{Leader: r.Leader, LeaderAddr: r.LeaderAddr, Index: r.Index, Refused: string(r.Refused), Detail: r.Detail}
}

func ownResponseFromProto(r *peerpb.OwnResponse) assign.Response {
	return assign.Response{
		Leader: r.Leader, LeaderAddr: r.LeaderAddr, Index: r.Index, Refused: agent.Code(r.Refused), Detail: r.Detail,
	}
}
