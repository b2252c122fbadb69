package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

func valueToProto(v *agent.Value) *apipb.Value {
	return &apipb.Value{
		Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType, Bytes: v.Bytes,
		Metadata: v.Metadata, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
	}
}

func valueFromProto(v *apipb.Value) *agent.Value {
	return &agent.Value{
		Key: v.GetKey(), Incarnation: v.GetIncarnation(), Revision: v.GetRevision(), ContentType: v.GetContentType(),
		Bytes: v.GetBytes(), Metadata: ops.JSON(v.GetMetadata()), CreatedAt: v.GetCreatedAt(), UpdatedAt: v.GetUpdatedAt(), ExpiresAt: v.GetExpiresAt(),
	}
}

func valueListToProto(l *agent.ValueList) *apipb.ValueList {
	slab := make([]apipb.ValueRow, len(l.Items))
	out := &apipb.ValueList{Items: make([]*apipb.ValueRow, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		r, m := &l.Items[i], &slab[i]
		m.Key, m.Incarnation, m.Revision, m.ContentType = r.Key, r.Incarnation, r.Revision, r.ContentType
		m.Size, m.Metadata, m.UpdatedAt, m.ExpiresAt = r.Size, r.Metadata, r.UpdatedAt, r.ExpiresAt
		if r.Body != nil {
			m.Body, m.HasBody = *r.Body, true
		}
		out.Items[i] = m
	}
	return out
}

func valueListFromProto(l *apipb.ValueList) *agent.ValueList {
	out := &agent.ValueList{Items: make([]agent.ValueRow, len(l.GetItems())), Next: l.GetNext()}
	for i, r := range l.GetItems() {
		out.Items[i] = agent.ValueRow{
			Key: r.GetKey(), Incarnation: r.GetIncarnation(), Revision: r.GetRevision(), ContentType: r.GetContentType(),
			Size: r.GetSize(), Metadata: ops.JSON(r.GetMetadata()), UpdatedAt: r.GetUpdatedAt(), ExpiresAt: r.GetExpiresAt(),
		}
		if r.GetHasBody() {
			body := r.GetBody()
			out.Items[i].Body = &body
		}
	}
	return out
}
