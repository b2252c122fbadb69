package instance

import "dormouse/agent"

// versionReads returns reads of the instance's version: its checkpoint's
// revision and its thread's rev, with their incarnations.
func (i *instance) versionReads() []agent.Read {
	key := i.ref().Checkpoint()
	return []agent.Read{&agent.ListCheckpoints{Page: agent.Page{Prefix: key, Limit: 1}}, &agent.GetThread{Thread: key}}
}

// checkUnchanged compares the answers to versionReads with the version that the
// instance has in memory. If they differ it returns a staleError, and the turn
// runs again.
func (i *instance) checkUnchanged(answers []agent.Answer) error {
	if len(answers) != 2 {
		return agent.Errorf(agent.CodeInternal, "two reads have %d answers", len(answers))
	}
	for _, a := range answers {
		if a.Err != nil && a.Err.Code != agent.CodeNotFound {
			return a.Err
		}
	}
	var now stored
	if list, ok := answers[0].Found.(*agent.CheckpointList); ok && len(list.Items) > 0 && list.Items[0].Key == i.ref().Checkpoint() {
		now.revision, now.incarnation = list.Items[0].Revision, list.Items[0].Incarnation
	}
	if thread, ok := answers[1].Found.(*agent.Thread); ok {
		now.rev, now.threadIncarnation = thread.Rev, thread.Incarnation
	}
	was := i.stored
	if was.revision == now.revision && was.rev == now.rev &&
		(was.revision == 0 || was.incarnation == now.incarnation) && (was.rev == 0 || was.threadIncarnation == now.threadIncarnation) {
		return nil
	}
	return &staleError{refusal: agent.Errorf(agent.CodeConflict,
		"another client wrote to %s during the signal: its checkpoint is at revision %d and its thread at rev %d, expected %d and %d",
		i, now.revision, now.rev, was.revision, was.rev)}
}
