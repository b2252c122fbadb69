package memstore

import (
	"bytes"

	"dormouse/agent"
)

// matches refuses a value that does not hold the expected bytes; v is nil if there is
// no value.
func matches(want *[]byte, v *agent.Value) *agent.Error {
	if want == nil || (*want == nil && v == nil) || (*want != nil && v != nil && bytes.Equal(*want, v.Bytes)) {
		return nil
	}
	e := agent.Errorf(agent.CodeRevisionMismatch, "the value holds other bytes")
	if v != nil {
		e.Revision = v.Revision
	}
	return e
}

func valueResult(v *agent.Value) *agent.ValueResult {
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}
}

func (st *Store) putValue(s *scope, o *agent.PutValue) (agent.OpResult, *agent.Error) {
	old := s.values[o.Key]
	if o.SkipExisting && old != nil {
		kept := valueResult(old)
		kept.Skipped = true
		return kept, nil
	}
	v := agent.Value{
		Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, UpdatedAt: s.now, CreatedAt: s.now, ExpiresAt: s.expiry(o.TTL), Metadata: o.Metadata,
	}
	if old != nil {
		v.Incarnation, v.Revision, v.CreatedAt = old.Incarnation, old.Revision, old.CreatedAt
		if v.Metadata == nil {
			v.Metadata = old.Metadata
		}
	}
	if e := first(s.alive("value", o.Key, o.IfIncarnation, v.Incarnation), atRevision(o.IfRevision, v.Revision), matches(o.IfBytes, old)); e != nil {
		return nil, e
	}
	if old == nil {
		v.Incarnation = st.newIncarnation()
	}
	v.Revision++
	s.values[o.Key] = &v
	return valueResult(&v), nil
}

// reviseValue moves a value or changes its attributes.
func (st *Store) reviseValue(s *scope, o *agent.ReviseValue) (agent.OpResult, *agent.Error) {
	old := s.values[o.Key]
	v := agent.Value{}
	if old != nil {
		v = *old
	}
	if o.IfIncarnation != 0 && o.IfIncarnation != v.Incarnation {
		e := agent.Errorf(agent.CodeDeleted, "incarnation %d of value %q is deleted", o.IfIncarnation, o.Key)
		e.Incarnation = v.Incarnation
		return nil, e
	}
	if e := atRevision(o.IfRevision, v.Revision); e != nil {
		return nil, e
	}
	if old == nil {
		return nil, notFound("value", o.Key)
	}
	if o.ContentType != "" {
		v.ContentType = o.ContentType
	}
	if o.Metadata != nil {
		merged, err := agent.MergePatch(orEmpty(v.Metadata), o.Metadata)
		if err != nil {
			return nil, agent.Invalid("metadata", "%v", err)
		}
		if len(merged) > agent.MetadataBytesMax {
			return nil, agent.TooLarge("metadata", "metadata_bytes_max", len(merged), agent.MetadataBytesMax)
		}
		v.Metadata = merged
	}
	v.Revision++
	v.UpdatedAt = s.now
	if o.To != "" {
		if there := s.values[o.To]; there != nil {
			e := agent.Errorf(agent.CodeAlreadyExists, "there is a value %q already", o.To)
			e.Revision = there.Revision
			return nil, e
		}
		if e := s.alive("value", o.To, 0, 0); e != nil {
			return nil, e
		}
		delete(s.values, o.Key)
		v.Key, v.Incarnation, v.Revision = o.To, st.newIncarnation(), 1
	}
	s.values[v.Key] = &v
	return valueResult(&v), nil
}

func (s *scope) deleteValue(o *agent.DeleteValue) (agent.OpResult, *agent.Error) {
	old, incarnation, revision := s.values[o.Key], uint64(0), uint64(0)
	if old != nil {
		incarnation, revision = old.Incarnation, old.Revision
	}
	if e := first(sameIncarnation("value", o.Key, o.IfIncarnation, incarnation), atRevision(o.IfRevision, revision), matches(o.IfBytes, old)); e != nil {
		return nil, e
	}
	delete(s.values, o.Key)
	return s.removed("value", o.Key, incarnation, o.Seal), nil
}

func (s *scope) listValues(q *agent.ListValues) *agent.ValueList {
	keys, next := sortedAt(s.values, q.Page, func(v *agent.Value) int64 { return v.UpdatedAt },
		q.Where, func(v *agent.Value) agent.JSON { return v.Metadata })
	list := &agent.ValueList{Next: next}
	for _, key := range keys {
		v := s.values[key]
		row := agent.ValueRow{
			Key: key, Incarnation: v.Incarnation, Revision: v.Revision, ContentType: v.ContentType,
			Size: uint64(len(v.Bytes)), Metadata: v.Metadata, UpdatedAt: v.UpdatedAt, ExpiresAt: v.ExpiresAt,
		}
		if q.Body {
			row.Body = &v.Bytes
		}
		list.Items = append(list.Items, row)
	}
	return list
}
