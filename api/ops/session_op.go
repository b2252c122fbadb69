package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

func sessionOpToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.PutSession:
		out.Op = &oppb.Op_PutSession{PutSession: putSessionToProto(op)}
	case *agent.ClaimSession:
		out.Op = &oppb.Op_ClaimSession{ClaimSession: &oppb.ClaimSession{
			Session: op.Session, OwnerId: op.Owner, Request: RequestToProto(op.Request), TtlMs: Millis(op.TTL),
			ConversationRevision: op.ConversationRevision,
		}}
	case *agent.ResumeSession:
		out.Op = &oppb.Op_ResumeSession{ResumeSession: &oppb.ResumeSession{
			Session: op.Session, OwnerId: op.Owner, TtlMs: Millis(op.TTL),
		}}
	case *agent.RecoverSession:
		out.Op = &oppb.Op_RecoverSession{RecoverSession: &oppb.RecoverSession{
			Session: op.Session, OwnerId: op.Owner, TtlMs: Millis(op.TTL),
		}}
	case *agent.CheckpointSession:
		out.Op = &oppb.Op_CheckpointSession{CheckpointSession: &oppb.CheckpointSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, TtlMs: Millis(op.TTL),
			Snapshot: sessionSnapshotToProto(&op.Snapshot), Reviews: reviewDraftsToProto(op.Reviews),
		}}
	case *agent.CommitSession:
		out.Op = &oppb.Op_CommitSession{CommitSession: commitSessionToProto(op)}
	case *agent.RenewSession:
		out.Op = &oppb.Op_RenewSession{RenewSession: &oppb.RenewSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, TtlMs: Millis(op.TTL),
		}}
	case *agent.CancelSession:
		out.Op = &oppb.Op_CancelSession{CancelSession: &oppb.CancelSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, Reason: op.Reason, IfRevision: op.IfRevision,
		}}
	case *agent.ForkSession:
		out.Op = &oppb.Op_ForkSession{ForkSession: &oppb.ForkSession{
			Session: op.Session, NewSession: op.NewSession, SnapshotId: op.Snapshot,
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteSession:
		out.Op = &oppb.Op_DeleteSession{DeleteSession: &oppb.DeleteSession{
			Session: op.Session, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: Millis(op.Seal),
		}}
	case *agent.DecideReview:
		out.Op = &oppb.Op_DecideReview{DecideReview: &oppb.DecideReview{
			Review: op.Review, Decision: string(op.Decision), By: op.By, Arguments: op.Arguments, Note: op.Note,
			InterruptId: op.InterruptID,
		}}
	case *agent.ForkAgent, *agent.EraseAgent, *agent.SetTTL:
		agentOpToProto(out, op)
	default:
		conversationOpToProto(out, op)
	}
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

func sessionOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_PutSession:
		if o.PutSession != nil {
			return putSessionFromProto(o.PutSession), nil
		}
	case *oppb.Op_CheckpointSession:
		if o.CheckpointSession != nil {
			return checkpointSessionFromProto(o.CheckpointSession)
		}
	case *oppb.Op_CommitSession:
		if o.CommitSession != nil {
			return commitSessionFromProto(o.CommitSession)
		}
	case *oppb.Op_CancelSession:
		if c := o.CancelSession; c != nil {
			return &agent.CancelSession{
				Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, Reason: JSON(c.Reason), IfRevision: c.IfRevision,
			}, nil
		}
	case *oppb.Op_ForkSession:
		if f := o.ForkSession; f != nil {
			return &agent.ForkSession{
				Session: f.Session, NewSession: f.NewSession, Snapshot: f.SnapshotId,
				IfRevision: f.IfRevision, IfIncarnation: f.IfIncarnation,
			}, nil
		}
	case *oppb.Op_DecideReview:
		if d := o.DecideReview; d != nil {
			return &agent.DecideReview{
				Review: d.Review, Decision: agent.ReviewDecision(d.Decision), By: d.By, Arguments: JSON(d.Arguments),
				Note: d.Note, InterruptID: d.InterruptId,
			}, nil
		}
	case *oppb.Op_ForkAgent, *oppb.Op_EraseAgent, *oppb.Op_SetTtl:
		return agentOpFromProto(op)
	default:
		return timedSessionOpFromProto(op)
	}
	return nil, noKind()
}

// timedSessionOpFromProto converts the ops that consist of little more than a time to
// live.
func timedSessionOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_ClaimSession:
		if c := o.ClaimSession; c != nil {
			ttl, err := Duration("ttl_ms", c.TtlMs)
			return &agent.ClaimSession{
				Session: c.Session, Owner: c.OwnerId, Request: RequestFromProto(c.Request), TTL: ttl,
				ConversationRevision: c.ConversationRevision,
			}, err
		}
	case *oppb.Op_ResumeSession:
		if r := o.ResumeSession; r != nil {
			ttl, err := Duration("ttl_ms", r.TtlMs)
			return &agent.ResumeSession{Session: r.Session, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *oppb.Op_RecoverSession:
		if r := o.RecoverSession; r != nil {
			ttl, err := Duration("ttl_ms", r.TtlMs)
			return &agent.RecoverSession{Session: r.Session, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *oppb.Op_RenewSession:
		if r := o.RenewSession; r != nil {
			ttl, err := Duration("ttl_ms", r.TtlMs)
			return &agent.RenewSession{Session: r.Session, LeaseID: r.LeaseId, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *oppb.Op_DeleteSession:
		if d := o.DeleteSession; d != nil {
			seal, err := Duration("seal_ms", d.SealMs)
			return &agent.DeleteSession{
				Session: d.Session, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: seal,
			}, err
		}
	default:
		return conversationOpFromProto(op)
	}
	return nil, noKind()
}

func putSessionFromProto(p *oppb.PutSession) agent.Op {
	return &agent.PutSession{
		SessionSettings: SessionSettingsFromProto(p.Settings), Session: p.Session, Mode: agent.SessionMode(p.Mode), Agent: p.AgentId,
		Spec: JSON(p.Spec), Metadata: JSON(p.Metadata), Environment: JSON(p.Environment),
		Status: agent.SessionStatus(p.Status), Conversation: TurnStateFromProto(p.Conversation),
		Result: JSON(p.Result), Failure: JSON(p.Failure), Request: RequestFromProto(p.Request),
		IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}
}

func checkpointSessionFromProto(c *oppb.CheckpointSession) (agent.Op, error) {
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

func commitSessionFromProto(c *oppb.CommitSession) (agent.Op, error) {
	reviews, err := reviewDraftsFromProto(c.Reviews)
	return &agent.CommitSession{
		Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, Agent: c.AgentId, RequestID: c.RequestId,
		Status: agent.SessionStatus(c.Status), Result: JSON(c.Result), Failure: JSON(c.Failure),
		Environment: JSON(c.Environment), Conversation: TurnStateFromProto(c.Conversation),
		Snapshots: SessionSnapshotsFromProto(c.Snapshots), Reviews: reviews,
	}, err
}
