package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func sessionOpToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.PutSession:
		out.Op = &apipb.Op_PutSession{PutSession: putSessionToProto(op)}
	case *agent.ClaimSession:
		out.Op = &apipb.Op_ClaimSession{ClaimSession: &apipb.ClaimSession{
			Session: op.Session, OwnerId: op.Owner, Request: requestToProto(op.Request), TtlMs: millis(op.TTL),
			ConversationRevision: op.ConversationRevision,
		}}
	case *agent.ResumeSession:
		out.Op = &apipb.Op_ResumeSession{ResumeSession: &apipb.ResumeSession{
			Session: op.Session, OwnerId: op.Owner, TtlMs: millis(op.TTL),
		}}
	case *agent.RecoverSession:
		out.Op = &apipb.Op_RecoverSession{RecoverSession: &apipb.RecoverSession{
			Session: op.Session, OwnerId: op.Owner, TtlMs: millis(op.TTL),
		}}
	case *agent.CheckpointSession:
		out.Op = &apipb.Op_CheckpointSession{CheckpointSession: &apipb.CheckpointSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, TtlMs: millis(op.TTL),
			Snapshot: sessionSnapshotToProto(&op.Snapshot), Reviews: reviewDraftsToProto(op.Reviews),
		}}
	case *agent.CommitSession:
		out.Op = &apipb.Op_CommitSession{CommitSession: commitSessionToProto(op)}
	case *agent.RenewSession:
		out.Op = &apipb.Op_RenewSession{RenewSession: &apipb.RenewSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, TtlMs: millis(op.TTL),
		}}
	case *agent.CancelSession:
		out.Op = &apipb.Op_CancelSession{CancelSession: &apipb.CancelSession{
			Session: op.Session, LeaseId: op.LeaseID, OwnerId: op.Owner, Reason: op.Reason, IfRevision: op.IfRevision,
		}}
	case *agent.ForkSession:
		out.Op = &apipb.Op_ForkSession{ForkSession: &apipb.ForkSession{
			Session: op.Session, NewSession: op.NewSession, SnapshotId: op.Snapshot,
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteSession:
		out.Op = &apipb.Op_DeleteSession{DeleteSession: &apipb.DeleteSession{
			Session: op.Session, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: millis(op.Seal),
		}}
	case *agent.DecideReview:
		out.Op = &apipb.Op_DecideReview{DecideReview: &apipb.DecideReview{
			Review: op.Review, Decision: string(op.Decision), By: op.By, Arguments: op.Arguments, Note: op.Note,
			InterruptId: op.InterruptID,
		}}
	case *agent.ForkAgent, *agent.EraseAgent, *agent.SetTTL:
		agentOpToProto(out, op)
	default:
		conversationOpToProto(out, op)
	}
}

func putSessionToProto(o *agent.PutSession) *apipb.PutSession {
	return &apipb.PutSession{
		Session: o.Session, Mode: string(o.Mode), SchemaVersion: o.SchemaVersion, AgentId: o.Agent, Spec: o.Spec,
		Metadata: o.Metadata, Environment: o.Environment, Status: string(o.Status),
		Conversation: conversationToProto(o.Conversation), Busy: string(o.Busy), QueueMax: o.QueueMax,
		Thread: o.Thread, Checkpoint: o.Checkpoint, Result: o.Result, Failure: o.Failure, Request: requestToProto(o.Request),
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}
}

func commitSessionToProto(o *agent.CommitSession) *apipb.CommitSession {
	return &apipb.CommitSession{
		Session: o.Session, LeaseId: o.LeaseID, OwnerId: o.Owner, AgentId: o.Agent, RequestId: o.RequestID,
		Status: string(o.Status), Result: o.Result, Failure: o.Failure, Environment: o.Environment,
		Conversation: conversationToProto(o.Conversation), Snapshots: sessionSnapshotsToProto(o.Snapshots),
		Reviews: reviewDraftsToProto(o.Reviews),
	}
}

func sessionOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_PutSession:
		if o.PutSession != nil {
			return putSessionFromProto(o.PutSession), nil
		}
	case *apipb.Op_CheckpointSession:
		if o.CheckpointSession != nil {
			return checkpointSessionFromProto(o.CheckpointSession)
		}
	case *apipb.Op_CommitSession:
		if o.CommitSession != nil {
			return commitSessionFromProto(o.CommitSession)
		}
	case *apipb.Op_CancelSession:
		if c := o.CancelSession; c != nil {
			return &agent.CancelSession{
				Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, Reason: json(c.Reason), IfRevision: c.IfRevision,
			}, nil
		}
	case *apipb.Op_ForkSession:
		if f := o.ForkSession; f != nil {
			return &agent.ForkSession{
				Session: f.Session, NewSession: f.NewSession, Snapshot: f.SnapshotId,
				IfRevision: f.IfRevision, IfIncarnation: f.IfIncarnation,
			}, nil
		}
	case *apipb.Op_DecideReview:
		if d := o.DecideReview; d != nil {
			return &agent.DecideReview{
				Review: d.Review, Decision: agent.ReviewDecision(d.Decision), By: d.By, Arguments: json(d.Arguments),
				Note: d.Note, InterruptID: d.InterruptId,
			}, nil
		}
	case *apipb.Op_ForkAgent, *apipb.Op_EraseAgent, *apipb.Op_SetTtl:
		return agentOpFromProto(op)
	default:
		return timedSessionOpFromProto(op)
	}
	return nil, noKind()
}

// timedSessionOpFromProto converts the ops that are little else than a time to
// live.
func timedSessionOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_ClaimSession:
		if c := o.ClaimSession; c != nil {
			ttl, err := duration("ttl_ms", c.TtlMs)
			return &agent.ClaimSession{
				Session: c.Session, Owner: c.OwnerId, Request: requestFromProto(c.Request), TTL: ttl,
				ConversationRevision: c.ConversationRevision,
			}, err
		}
	case *apipb.Op_ResumeSession:
		if r := o.ResumeSession; r != nil {
			ttl, err := duration("ttl_ms", r.TtlMs)
			return &agent.ResumeSession{Session: r.Session, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *apipb.Op_RecoverSession:
		if r := o.RecoverSession; r != nil {
			ttl, err := duration("ttl_ms", r.TtlMs)
			return &agent.RecoverSession{Session: r.Session, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *apipb.Op_RenewSession:
		if r := o.RenewSession; r != nil {
			ttl, err := duration("ttl_ms", r.TtlMs)
			return &agent.RenewSession{Session: r.Session, LeaseID: r.LeaseId, Owner: r.OwnerId, TTL: ttl}, err
		}
	case *apipb.Op_DeleteSession:
		if d := o.DeleteSession; d != nil {
			seal, err := duration("seal_ms", d.SealMs)
			return &agent.DeleteSession{
				Session: d.Session, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: seal,
			}, err
		}
	default:
		return conversationOpFromProto(op)
	}
	return nil, noKind()
}

func putSessionFromProto(p *apipb.PutSession) agent.Op {
	return &agent.PutSession{
		Session: p.Session, Mode: agent.SessionMode(p.Mode), SchemaVersion: p.SchemaVersion, Agent: p.AgentId,
		Spec: json(p.Spec), Metadata: json(p.Metadata), Environment: json(p.Environment),
		Status: agent.SessionStatus(p.Status), Conversation: conversationFromProto(p.Conversation),
		Busy: agent.BusyPolicy(p.Busy), QueueMax: p.QueueMax, Thread: p.Thread, Checkpoint: p.Checkpoint,
		Result: json(p.Result), Failure: json(p.Failure), Request: requestFromProto(p.Request),
		IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}
}

func checkpointSessionFromProto(c *apipb.CheckpointSession) (agent.Op, error) {
	ttl, err := duration("ttl_ms", c.TtlMs)
	if err != nil {
		return nil, err
	}
	reviews, err := reviewDraftsFromProto(c.Reviews)
	return &agent.CheckpointSession{
		Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, TTL: ttl,
		Snapshot: sessionSnapshotFromProto(c.Snapshot), Reviews: reviews,
	}, err
}

func commitSessionFromProto(c *apipb.CommitSession) (agent.Op, error) {
	reviews, err := reviewDraftsFromProto(c.Reviews)
	return &agent.CommitSession{
		Session: c.Session, LeaseID: c.LeaseId, Owner: c.OwnerId, Agent: c.AgentId, RequestID: c.RequestId,
		Status: agent.SessionStatus(c.Status), Result: json(c.Result), Failure: json(c.Failure),
		Environment: json(c.Environment), Conversation: conversationFromProto(c.Conversation),
		Snapshots: sessionSnapshotsFromProto(c.Snapshots), Reviews: reviews,
	}, err
}
