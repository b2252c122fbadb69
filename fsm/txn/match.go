package txn

import (
	"fmt"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// RevisionMatches compares a stored revision with if_revision: 0 means "must not exist", and is the
// stored revision of a missing row.
func RevisionMatches(key string, want *uint64, stored uint64) error {
	if seededbug.Is(seededbug.RevisionCheckedEarly) { // package store has, before it proposed
		return nil
	}
	if want != nil && *want != stored {
		return RevisionMismatch(key, fmt.Sprintf("not at revision %d", *want), stored)
	}
	return nil
}

// Matches checks a row, or nil, against the incarnation and the revision that a write requires.
func Matches(id string, ifIncarnation uint64, ifRevision *uint64, row interface {
	GetIncarnation() uint64
	GetRevision() uint64
},
) error {
	if err := SameIncarnation(id, ifIncarnation, row.GetIncarnation()); err != nil {
		return err
	}
	return RevisionMatches(id, ifRevision, row.GetRevision())
}

// RevisionMismatch returns the error of a write to key, which is at the stored revision.
func RevisionMismatch(key, why string, stored uint64) *agent.Error {
	e := agent.Errorf(agent.CodeRevisionMismatch, "%q is at revision %d: %s", key, stored, why)
	e.Revision = stored
	return e
}

// NotFound returns the error of a noun with an id that does not exist.
func NotFound(noun, id string) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "there is no %s %q", noun, id)
}

// QuotaRetryMS is an estimate: a quota frees up when a client deletes something.
const QuotaRetryMS = 1000
