package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var sessionCodecs = []opCodec{
	codec(encodePutSession, (*oppb.Op).GetPutSession, decodePutSession),
	codec(encodeClaimSession, (*oppb.Op).GetClaimSession, decodeClaimSession),
	codec(encodeResumeSession, (*oppb.Op).GetResumeSession, decodeResumeSession),
	codec(encodeRecoverSession, (*oppb.Op).GetRecoverSession, decodeRecoverSession),
	codec(encodeCheckpointSession, (*oppb.Op).GetCheckpointSession, decodeCheckpointSession),
	codec(encodeCommitSession, (*oppb.Op).GetCommitSession, decodeCommitSession),
	codec(encodeRenewSession, (*oppb.Op).GetRenewSession, decodeRenewSession),
	codec(encodeCancelSession, (*oppb.Op).GetCancelSession, decodeCancelSession),
	codec(encodeForkSession, (*oppb.Op).GetForkSession, decodeForkSession),
	codec(encodeDeleteSession, (*oppb.Op).GetDeleteSession, decodeDeleteSession),
}

func putSessionToProto(o *agent.PutSession) *oppb.PutSession {
	return &oppb.PutSession{
		Session: o.Session, Mode: string(o.Mode), Settings: SessionSettingsToProto(&o.SessionSettings), AgentId: o.Agent, Spec: o.Spec,
		Metadata: o.Metadata, Environment: o.Environment, Status: string(o.Status),
		Conversation: TurnStateToProto(o.Conversation), Result: o.Result, Failure: o.Failure, Request: RequestToProto(o.Request),
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func commitSessionToProto(o *agent.CommitSession) *oppb.CommitSession {
	return &oppb.CommitSession{
		Session: o.Session, LeaseId: o.LeaseID, OwnerId: o.Owner, AgentId: o.Agent, RequestId: o.RequestID,
		Status: string(o.Status), Result: o.Result, Failure: o.Failure, Environment: o.Environment,
		Conversation: TurnStateToProto(o.Conversation), Snapshots: SessionSnapshotsToProto(o.Snapshots),
		Reviews: reviewDraftsToProto(o.Reviews),
	}
}

func encodePutSession(out *oppb.Op, o *agent.PutSession) {
	out.Op = &oppb.Op_PutSession{PutSession: putSessionToProto(o)}
}

func decodePutSession(p *oppb.PutSession) (agent.Op, error) {
	return &agent.PutSession{
		SessionSettings: SessionSettingsFromProto(p.Settings), Session: p.Session, Mode: agent.SessionMode(p.Mode), Agent: p.AgentId,
		Spec: JSON(p.Spec), Metadata: JSON(p.Metadata), Environment: JSON(p.Environment),
		Status: agent.SessionStatus(p.Status), Conversation: TurnStateFromProto(p.Conversation),
		Result: JSON(p.Result), Failure: JSON(p.Failure), Request: RequestFromProto(p.Request),
		IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func encodeClaimSession(out *oppb.Op, o *agent.ClaimSession) {
	out.Op = &oppb.Op_ClaimSession{ClaimSession: &oppb.ClaimSession{
		Session: o.Session, OwnerId: o.Owner, Request: RequestToProto(o.Request), TtlMs: Millis(o.TTL),
		ConversationRevision: o.ConversationRevision,
	}}
}

func decodeClaimSession(p *oppb.ClaimSession) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.ClaimSession{
		Session: p.Session, Owner: p.OwnerId, Request: RequestFromProto(p.Request), TTL: ttl,
		ConversationRevision: p.ConversationRevision,
	}, err
}

func encodeResumeSession(out *oppb.Op, o *agent.ResumeSession) {
	out.Op = &oppb.Op_ResumeSession{ResumeSession: &oppb.ResumeSession{
		Session: o.Session, OwnerId: o.Owner, TtlMs: Millis(o.TTL),
	}}
}

func decodeResumeSession(p *oppb.ResumeSession) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.ResumeSession{Session: p.Session, Owner: p.OwnerId, TTL: ttl}, err
}

func encodeRecoverSession(out *oppb.Op, o *agent.RecoverSession) {
	out.Op = &oppb.Op_RecoverSession{RecoverSession: &oppb.RecoverSession{
		Session: o.Session, OwnerId: o.Owner, TtlMs: Millis(o.TTL),
	}}
}

func decodeRecoverSession(p *oppb.RecoverSession) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.RecoverSession{Session: p.Session, Owner: p.OwnerId, TTL: ttl}, err
}

func encodeCheckpointSession(out *oppb.Op, o *agent.CheckpointSession) {
	out.Op = &oppb.Op_CheckpointSession{CheckpointSession: &oppb.CheckpointSession{
		Session: o.Session, LeaseId: o.LeaseID, OwnerId: o.Owner, TtlMs: Millis(o.TTL),
		Snapshot: sessionSnapshotToProto(&o.Snapshot), Reviews: reviewDraftsToProto(o.Reviews),
	}}
}

func decodeCheckpointSession(c *oppb.CheckpointSession) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", c.TtlMs)
	if err != nil {
		return nil, err
	}
	reviews, err := reviewDraftsFromProto(c.Reviews)
	return &agent.CheckpointSession{
		Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, TTL: ttl,
		Snapshot: sessionSnapshotFromProto(c.Snapshot), Reviews: reviews,
	}, err
}

func encodeCommitSession(out *oppb.Op, o *agent.CommitSession) {
	out.Op = &oppb.Op_CommitSession{CommitSession: commitSessionToProto(o)}
}

func decodeCommitSession(c *oppb.CommitSession) (agent.Op, error) {
	reviews, err := reviewDraftsFromProto(c.Reviews)
	return &agent.CommitSession{
		Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, Agent: c.AgentId, RequestID: c.RequestId,
		Status: agent.SessionStatus(c.Status), Result: JSON(c.Result), Failure: JSON(c.Failure),
		Environment: JSON(c.Environment), Conversation: TurnStateFromProto(c.Conversation),
		Snapshots: SessionSnapshotsFromProto(c.Snapshots), Reviews: reviews,
	}, err
}

func encodeRenewSession(out *oppb.Op, o *agent.RenewSession) {
	out.Op = &oppb.Op_RenewSession{RenewSession: &oppb.RenewSession{
		Session: o.Session, LeaseId: o.LeaseID, OwnerId: o.Owner, TtlMs: Millis(o.TTL),
	}}
}

func decodeRenewSession(p *oppb.RenewSession) (agent.Op, error) {
	ttl, err := Duration("ttl_ms", p.TtlMs)
	return &agent.RenewSession{Session: p.Session, LeaseID: p.LeaseId, Owner: p.OwnerId, TTL: ttl}, err
}

func encodeCancelSession(out *oppb.Op, o *agent.CancelSession) {
	out.Op = &oppb.Op_CancelSession{CancelSession: &oppb.CancelSession{
		Session: o.Session, LeaseId: o.LeaseID, OwnerId: o.Owner, Reason: o.Reason, IfRevision: o.IfRevision,
	}}
}

func decodeCancelSession(p *oppb.CancelSession) (agent.Op, error) {
	return &agent.CancelSession{
		Session: p.Session, LeaseID: p.LeaseId, Owner: p.OwnerId, Reason: JSON(p.Reason), IfRevision: p.IfRevision,
	}, nil
}

func encodeForkSession(out *oppb.Op, o *agent.ForkSession) {
	out.Op = &oppb.Op_ForkSession{ForkSession: &oppb.ForkSession{
		Session: o.Session, NewSession: o.NewSession, SnapshotId: o.Snapshot,
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}}
}

func decodeForkSession(p *oppb.ForkSession) (agent.Op, error) {
	return &agent.ForkSession{
		Session: p.Session, NewSession: p.NewSession, Snapshot: p.SnapshotId,
		IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func encodeDeleteSession(out *oppb.Op, o *agent.DeleteSession) {
	out.Op = &oppb.Op_DeleteSession{DeleteSession: &oppb.DeleteSession{
		Session: o.Session, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}}
}

func decodeDeleteSession(p *oppb.DeleteSession) (agent.Op, error) {
	seal, err := Duration("seal_ms", p.SealMs)
	return &agent.DeleteSession{
		Session: p.Session, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation, Seal: seal,
	}, err
}
