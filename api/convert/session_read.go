package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func sessionReadToProto(out *apipb.Read, read agent.Read) {
	switch r := read.(type) {
	case *agent.GetSession:
		out.Read = &apipb.Read_GetSession{GetSession: &apipb.GetSession{Session: r.Session}}
	case *agent.ListSessions:
		var where []*apipb.SessionMetadata
		for _, m := range r.Where {
			where = append(where, &apipb.SessionMetadata{Key: m.Key, Value: m.Value})
		}
		out.Read = &apipb.Read_ListSessions{ListSessions: &apipb.ListSessions{
			Prefix: r.Prefix, After: r.After, Limit: r.Limit, Order: string(r.Order), Since: r.Since, Until: r.Until, Status: string(r.Status),
			OwnerId: r.Owner, AgentId: r.Agent, Recoverable: r.Recoverable, Where: where,
		}}
	case *agent.GetReview:
		out.Read = &apipb.Read_GetReview{GetReview: &apipb.GetReview{Review: r.Review}}
	case *agent.ListReviews:
		out.Read = &apipb.Read_ListReviews{ListReviews: &apipb.ListReviews{
			Prefix: r.Prefix, After: r.After, Limit: r.Limit, Order: string(r.Order), Since: r.Since, Until: r.Until, Status: string(r.Status),
			Before: r.Before, Assignee: r.Assignee, Session: r.Session,
		}}
	case *agent.GetErasure:
		out.Read = &apipb.Read_GetErasure{GetErasure: &apipb.GetErasure{Agent: r.Agent}}
	default:
		conversationReadToProto(out, read)
	}
}

// sessionReadFromProto returns nil if there is no read.
func sessionReadFromProto(read *apipb.Read) agent.Read {
	switch r := read.GetRead().(type) {
	case *apipb.Read_GetSession:
		return &agent.GetSession{Session: r.GetSession.GetSession()}
	case *apipb.Read_ListSessions:
		l := r.ListSessions
		return &agent.ListSessions{
			Page:   pageFromProto(l),
			Status: agent.SessionStatus(l.GetStatus()), Owner: l.GetOwnerId(), Agent: l.GetAgentId(), Recoverable: l.GetRecoverable(),
			Where: whereFromProto(l.GetWhere()),
		}
	case *apipb.Read_GetReview:
		return &agent.GetReview{Review: r.GetReview.GetReview()}
	case *apipb.Read_ListReviews:
		l := r.ListReviews
		return &agent.ListReviews{
			Page:   pageFromProto(l),
			Status: agent.ReviewStatus(l.GetStatus()), Before: l.GetBefore(), Assignee: l.GetAssignee(), Session: l.GetSession(),
		}
	case *apipb.Read_GetErasure:
		return &agent.GetErasure{Agent: r.GetErasure.GetAgent()}
	default:
		return conversationReadFromProto(read)
	}
}

func sessionAnswerToProto(out *apipb.Answer, found agent.Found) {
	switch f := found.(type) {
	case *agent.Session:
		out.Answer = &apipb.Answer_Session{Session: sessionToProto(f)}
	case *agent.SessionList:
		out.Answer = &apipb.Answer_Sessions{Sessions: sessionListToProto(f)}
	case *agent.Review:
		out.Answer = &apipb.Answer_Review{Review: ops.ReviewToProto(f)}
	case *agent.ReviewList:
		out.Answer = &apipb.Answer_Reviews{Reviews: &apipb.ReviewList{Items: each(f.Items, ops.ReviewToProto), Next: f.Next}}
	case *agent.Erasure:
		out.Answer = &apipb.Answer_Erasure{Erasure: ops.ErasureToProto(f)}
	default:
		conversationAnswerToProto(out, found)
	}
}

func sessionAnswerFromProto(a *apipb.Answer) (agent.Found, error) {
	switch f := a.GetAnswer().(type) {
	case *apipb.Answer_Session:
		return sessionFromProto(f.Session)
	case *apipb.Answer_Sessions:
		return sessionListFromProto(f.Sessions), nil
	case *apipb.Answer_Review:
		return ops.ReviewFromProto(f.Review), nil
	case *apipb.Answer_Reviews:
		return &agent.ReviewList{Items: reviewsFromProto(f.Reviews.GetItems()), Next: f.Reviews.GetNext()}, nil
	case *apipb.Answer_Erasure:
		return ops.ErasureFromProto(f.Erasure)
	default:
		return conversationAnswerFromProto(a)
	}
}
