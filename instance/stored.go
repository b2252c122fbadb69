package instance

import (
	"context"

	"dormouse/agent"
)

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

// lookupStored returns an instance as its manager's store describes it.
func (st *store) lookupStored(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	ms, err := st.table.manager(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return agent.Instance{}, err
	}
	_, service, _ := st.table.managerConfig(ms)
	if service == nil {
		return agent.Instance{}, notAwake(ref)
	}
	return st.readDormant(ctx, ref, service)
}

// readDormant returns an instance as its checkpoint describes it.
func (st *store) readDormant(ctx context.Context, ref agent.InstanceRef, service agent.Service) (agent.Instance, error) {
	key := ref.Checkpoint()
	answers, err := service.Read(ctx, agent.Reads{Scope: ref.Scope, Reads: []agent.Read{
		&agent.CheckpointHistory{Key: key}, &agent.GetThread{Thread: key},
	}})
	if err != nil {
		return agent.Instance{}, unavailable(ctx, err)
	}
	p, err := st.leases.ownedPartition(partitionOf(ref)) // without ownership it may be awake elsewhere
	if err != nil {
		return agent.Instance{}, err
	}
	if len(answers.Answers) != 2 {
		return agent.Instance{}, agent.Errorf(agent.CodeInternal, "two reads have %d answers", len(answers.Answers))
	}
	kept, ok := answers.Answers[0].Found.(*agent.CheckpointList)
	if !ok || len(kept.Items) == 0 {
		if e := answers.Answers[0].Err; e != nil && e.Code != agent.CodeNotFound {
			return agent.Instance{}, e
		}
		return agent.Instance{}, agent.Errorf(agent.CodeNotFound, "manager %q has no instance %q", ref.Manager, ref.Key)
	}
	found := agent.Instance{
		InstanceRef: ref, Partition: p.ID, Node: st.o.Node, Epoch: p.Epoch, Status: agent.InstanceDormant,
		Revision: kept.Items[0].Revision, Thread: key,
	}
	if thread, ok := answers.Answers[1].Found.(*agent.Thread); ok {
		found.Rev = thread.Rev
	}
	return found, nil
}
