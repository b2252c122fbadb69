package convert

import (
	"dormouse/agent/layout"
	apipb "dormouse/proto/api"
)

// StatusToProto converts the state of a cluster.
func StatusToProto(s *layout.ClusterStatus) *apipb.ClusterStatus {
	out := &apipb.ClusterStatus{
		ClusterId: s.ClusterID, Node: s.Node, Leader: s.Leader, Term: s.Term, CommitIndex: s.CommitIndex,
		AppliedIndex: s.AppliedIndex, Chain: s.Chain, FeatureLevel: s.FeatureLevel, Version: s.Version, Auth: s.Auth, Insecure: s.Insecure,
	}
	if s.Backup != nil {
		out.Backup = BackupStatusToProto(s.Backup)
	}
	for i := range s.Members {
		m := &s.Members[i]
		out.Members = append(out.Members, &apipb.Member{
			Id: m.ID, Incarnation: m.Incarnation, RaftAddr: m.RaftAddr, GrpcAddr: m.GRPCAddr, HttpAddr: m.HTTPAddr,
			GossipAddr: m.GossipAddr, Voter: m.Voter, WantVote: m.WantVote, Leader: m.Leader, Status: m.Status,
			Version: m.Version, AppliedIndex: m.AppliedIndex, Host: m.Host,
			DiskFree: m.DiskFree, LastContact: m.LastContact, DrainedAt: m.DrainedAt,
		})
	}
	return out
}

// StatusFromProto converts the state of a cluster.
func StatusFromProto(s *apipb.ClusterStatus) layout.ClusterStatus {
	out := layout.ClusterStatus{
		ClusterID: s.GetClusterId(), Node: s.GetNode(), Leader: s.GetLeader(), Term: s.GetTerm(),
		CommitIndex: s.GetCommitIndex(), AppliedIndex: s.GetAppliedIndex(), Chain: s.GetChain(),
		FeatureLevel: s.GetFeatureLevel(), Version: s.GetVersion(), Auth: s.GetAuth(), Insecure: s.GetInsecure(),
	}
	if s.GetBackup() != nil {
		status := BackupStatusFromProto(s.GetBackup())
		out.Backup = &status
	}
	for _, m := range s.GetMembers() {
		out.Members = append(out.Members, layout.MemberStatus{
			Member: layout.Member{
				ID: m.GetId(), Incarnation: m.GetIncarnation(), RaftAddr: m.GetRaftAddr(), GRPCAddr: m.GetGrpcAddr(),
				HTTPAddr: m.GetHttpAddr(), GossipAddr: m.GetGossipAddr(), WantVote: m.GetWantVote(), Version: m.GetVersion(),
				Host: m.GetHost(),
			},
			Voter: m.GetVoter(), Leader: m.GetLeader(), Status: m.GetStatus(), AppliedIndex: m.GetAppliedIndex(),
			DiskFree: m.GetDiskFree(), LastContact: m.GetLastContact(), DrainedAt: m.GetDrainedAt(),
		})
	}
	return out
}
