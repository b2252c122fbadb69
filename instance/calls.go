package instance

import (
	"context"

	"dormouse/agent"
	"dormouse/placement"
)

var _ agent.Instances = (*Host)(nil)

func partitionOf(ref agent.InstanceRef) int {
	return placement.Partition(ref.Scope, ref.Manager, ref.Key)
}

// Start implements agent.Instances.
func (h *Host) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	if err := firstError(ref.Validate(), start.Validate()); err != nil {
		return agent.Instance{}, err
	}
	c := newCall()
	c.start = &start
	var found agent.Instance
	i, err := h.submit(ctx, ref, c, true, func(i *instance) bool {
		h.markUsed(i)
		found = h.describe(i)
		found.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return found, err
	}
	a := h.await(ctx, i, c)
	return a.instance, a.err
}

// Attach implements agent.Instances.
func (h *Host) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	if err := firstError(ref.Validate(), attach.Validate()); err != nil {
		return agent.Attached{}, err
	}
	c := newCall()
	c.attach = &attach
	var attached agent.Attached
	var refusal error
	i, err := h.submit(ctx, ref, c, true, func(i *instance) bool {
		attached, refusal = h.attach(i, attach)
		attached.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return attached, firstError(err, refusal)
	}
	a := h.await(ctx, i, c)
	return a.attached, a.err
}

// Signal implements agent.Instances.
func (h *Host) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if err := firstError(ref.Validate(), signal.Validate()); err != nil {
		return agent.Reply{}, err
	}
	c := newCall()
	c.signal = &signal
	i, err := h.submit(ctx, ref, c, true, nil)
	if err != nil {
		return agent.Reply{}, err
	}
	if signal.Cast {
		return agent.Reply{Node: h.o.Node, Epoch: i.epoch}, nil
	}
	a := h.await(ctx, i, c)
	return a.reply, a.err
}

// Stop implements agent.Instances.
func (h *Host) Stop(ctx context.Context, ref agent.InstanceRef) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	if ended, err := h.dropErased(ctx, ref); ended || err != nil {
		return err
	}
	c := newCall()
	c.hibernate, c.stop = lifecycleManual, true
	i, err := h.submit(ctx, ref, c, false, nil)
	if err != nil {
		return err
	}
	return h.await(ctx, i, c).err
}

// Hibernate implements agent.Instances. For a dormant instance it only checks
// that the instance is stored.
func (h *Host) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	err := h.Stop(ctx, ref)
	if !isCode(err, agent.CodeNotFound) {
		return err
	}
	_, err = h.Lookup(ctx, ref)
	return err
}

// Detach implements agent.Instances.
func (h *Host) Detach(_ context.Context, ref agent.InstanceRef, attachment string) error {
	if err := firstError(ref.Validate(), agent.ValidID("attachment", attachment)); err != nil {
		return err
	}
	i, unlock, err := h.lockInstance(ref)
	defer unlock()
	if err == nil && i != nil {
		h.detach(i, attachment)
	}
	return err
}

// Touch implements agent.Instances. An instance that is not awake is not_found.
func (h *Host) Touch(_ context.Context, ref agent.InstanceRef, attachment string) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	i, unlock, err := h.lockInstance(ref)
	defer unlock()
	switch {
	case err != nil:
		return err
	case i == nil:
		return notAwake(ref)
	default:
		return h.touch(i, attachment)
	}
}

// lockInstance returns the instance in memory, or nil, and holds mu until the
// caller calls unlock.
func (h *Host) lockInstance(ref agent.InstanceRef) (i *instance, unlock func(), err error) {
	h.mu.Lock()
	unlock = h.mu.Unlock
	p, err := h.ownedPartition(partitionOf(ref))
	if err == nil && h.runCtx == nil {
		err = errStopping
	}
	if err != nil {
		return nil, unlock, err
	}
	if ms := h.managers[managerID{ref.Scope, ref.Manager}]; ms != nil {
		if i = ms.instances[ref.Key]; i != nil && i.epoch != p.Epoch {
			i = nil
		}
	}
	return i, unlock, nil
}

// Lookup implements agent.Instances.
func (h *Host) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	if err := ref.Validate(); err != nil {
		return agent.Instance{}, err
	}
	i, unlock, err := h.lockInstance(ref)
	var there agent.Instance
	if err == nil && i != nil {
		there = h.describe(i)
	}
	unlock()
	if err != nil || i != nil && there.Status != agent.InstanceWaking {
		return there, err
	}
	found, err := h.lookupStored(ctx, ref)
	if i == nil || err != nil && !isCode(err, agent.CodeNotFound) {
		return found, err
	}
	there.Revision, there.Rev = found.Revision, found.Rev // unknown in memory before it is awake
	return there, nil
}

// lookupStored returns an instance as its manager's store describes it.
func (h *Host) lookupStored(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	ms, err := h.manager(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return agent.Instance{}, err
	}
	_, service, _ := h.managerConfig(ms)
	if service == nil {
		return agent.Instance{}, notAwake(ref)
	}
	return h.readDormant(ctx, ref, service)
}

// readDormant returns an instance as its checkpoint describes it.
func (h *Host) readDormant(ctx context.Context, ref agent.InstanceRef, service agent.Service) (agent.Instance, error) {
	key := ref.Checkpoint()
	answers, err := service.Read(ctx, agent.Reads{Scope: ref.Scope, Reads: []agent.Read{
		&agent.CheckpointHistory{Key: key}, &agent.GetThread{Thread: key},
	}})
	if err != nil {
		return agent.Instance{}, unavailable(ctx, err)
	}
	p, err := h.ownedPartition(partitionOf(ref)) // without ownership it may be awake elsewhere
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
		return agent.Instance{}, agent.Errorf(agent.CodeNotFound, "manager %q has no instance %q", ref.Key, ref.Manager)
	}
	found := agent.Instance{
		InstanceRef: ref, Partition: p.ID, Node: h.o.Node, Epoch: p.Epoch, Status: agent.InstanceDormant,
		Revision: kept.Items[0].Revision, Thread: key,
	}
	if thread, ok := answers.Answers[1].Found.(*agent.Thread); ok {
		found.Rev = thread.Rev
	}
	return found, nil
}
