package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/internal/seededbug"
)

// revisionMatches compares with if_revision: 0 means "must not exist", which
// is what a stored revision of 0 says.
func revisionMatches(key string, want *uint64, stored uint64) error {
	if seededbug.Is(seededbug.RevisionCheckedEarly) { // store has, before it proposed
		return nil
	}
	if want != nil && *want != stored {
		return revisionRefusal(key, fmt.Sprintf("not at revision %d", *want), stored)
	}
	return nil
}

func revisionRefusal(key, why string, stored uint64) *agent.Error {
	e := agent.Errorf(agent.CodeRevisionMismatch, "%q is at revision %d: %s", key, stored, why)
	e.Revision = stored
	return e
}

func notFound(noun, id string) *agent.Error {
	return agent.Errorf(agent.CodeNotFound, "there is no %s %q", noun, id)
}

// quotaRetryMS is a guess: a quota frees up when somebody deletes something.
const quotaRetryMS = 1000
