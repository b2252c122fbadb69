package fakestore

import "dormouse/agent"

// revise moves a value or changes its attributes; it replaces the metadata instead of
// merging it.
func (s *Store) revise(sc *scope, o *agent.ReviseValue) (agent.OpResult, *agent.Error) {
	old := sc.values[o.Key]
	if old == nil {
		return nil, notFound("value", o.Key)
	}
	if err := atRevision(o.IfRevision, old.Revision); err != nil {
		return nil, err
	}
	v := *old
	v.Revision++
	v.UpdatedAt = s.now()
	if o.ContentType != "" {
		v.ContentType = o.ContentType
	}
	if o.Metadata != nil {
		v.Metadata = o.Metadata
	}
	if o.To != "" {
		if sc.values[o.To] != nil {
			return nil, &agent.Error{Code: agent.CodeAlreadyExists, Detail: "there is a value " + o.To + " already"}
		}
		delete(sc.values, o.Key)
		v.Key, v.Revision, v.Incarnation = o.To, 1, s.index
	}
	sc.values[v.Key] = &v
	return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
}
