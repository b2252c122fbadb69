package store

import (
	"slices"

	"dormouse/agent"
	"dormouse/fsm"
)

// feature is a part of commits that nodes of earlier versions do not support: they would stop
// on it, ignore it, or decide otherwise.
type feature struct {
	name   string
	level  uint32 // the cluster's feature level from which on all nodes support it
	usedBy func(*agent.Commit) bool
}

// features are the features of the newest levels. An agent's erasure is one if the agent is a live
// instance: a node that cannot end instances would complete the erasure while the instance is live.
var features = []feature{
	{"tokens", fsm.TokensLevel, usesTokens},
	{"deciders of reviews", fsm.ConditionsLevel, usesDeciders},
	{"on_exists, create_only, upsert, shallow and entries with bytes or of more than 1 MiB", fsm.ConditionsLevel, usesConditions},
	{"index_metadata", fsm.MetadataLevel, hasOp[*agent.IndexMetadata]},
	{"delete_prefix", fsm.ConditionsLevel, hasOp[*agent.DeletePrefix]},
	{"these limits", fsm.TokensLevel, usesLimits},
	{"if_policy", fsm.ConditionsLevel, hasPolicyCondition},
	{"import_scope", fsm.ImportLevel, hasOp[*agent.ImportScope]},
	{"the erasure of agents that are live instances", fsm.ImportLevel, erasesInstance},
}

// Supports returns an error for a commit with a feature that not all nodes of the cluster support, as
// far as this node knows. The leader asks, and so does a node that forwards a commit: a leader of an
// earlier version would ignore what it does not know.
func (s *Store) Supports(c *agent.Commit) error {
	level := s.o.Machine.FeatureLevel()
	if level >= fsm.FeatureLevelMax {
		return nil
	}
	for _, f := range features {
		if level < f.level && f.usedBy(c) {
			return agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support %s yet: try again once they all run this version", f.name)
		}
	}
	return nil
}

func hasOp[O agent.Op](c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		_, ok := op.(O)
		return ok
	})
}

func usesTokens(c *agent.Commit) bool {
	return c.Token != "" || hasOp[*agent.PutToken](c) || hasOp[*agent.RevokeToken](c)
}

func usesDeciders(c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		var drafts []agent.ReviewDraft
		switch op := op.(type) {
		case *agent.CheckpointSession:
			drafts = op.Reviews
		case *agent.CommitSession:
			drafts = op.Reviews
		}
		return slices.ContainsFunc(drafts, func(d agent.ReviewDraft) bool { return len(d.Deciders) > 0 })
	})
}

// usesConditions reports whether a commit uses the conditions and the entries of ConditionsLevel.
func usesConditions(c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		switch op := op.(type) {
		case *agent.PutValue:
			return op.SkipExisting
		case *agent.PutCheckpoint:
			return op.SkipExisting
		case *agent.PatchCheckpoint:
			return op.Upsert || op.Shallow
		case *agent.AppendThread:
			return op.SkipExisting || op.CreateOnly || slices.ContainsFunc(op.Entries, hasBytes)
		case *agent.HibernateThread:
			return slices.ContainsFunc(op.Entries, hasBytes)
		default:
			return false
		}
	})
}

// hasBytes reports whether an entry is one that nodes below ConditionsLevel would refuse, or store without its
// bytes.
func hasBytes(d agent.Draft) bool {
	const entryBytesBefore = 1 << 20
	return d.ContentType != "" || len(d.Bytes) > 0 || d.Size() > entryBytesBefore
}

func usesLimits(c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		put, ok := op.(*agent.PutScope)
		return ok && (put.Default || put.UseDefault || put.Policy != put.Policy.Legacy())
	})
}

func hasPolicyCondition(c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		put, ok := op.(*agent.PutScope)
		return ok && put.IfPolicy != nil
	})
}

func erasesInstance(c *agent.Commit) bool {
	return slices.ContainsFunc(c.Ops, func(op agent.Op) bool {
		erase, ok := op.(*agent.EraseAgent)
		if !ok {
			return false
		}
		_, _, instance := agent.InstanceOf(erase.Agent)
		return instance
	})
}
