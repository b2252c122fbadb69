package instance

import (
	"context"

	"dormouse/agent"
	"dormouse/internal/seededbug"
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
	c := callOf(ctx)
	c.start = &start
	var found agent.Instance
	i, err := h.mailbox.submit(ctx, ref, c, true, func(i *instance) bool {
		h.table.markUsed(i)
		found = h.table.describe(i)
		found.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return found, err
	}
	a := h.mailbox.await(ctx, i, c)
	return a.instance, a.err
}

// Attach implements agent.Instances.
func (h *Host) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	if err := firstError(ref.Validate(), attach.Validate()); err != nil {
		return agent.Attached{}, err
	}
	c := callOf(ctx)
	c.attach = &attach
	var attached agent.Attached
	var refusal error
	i, err := h.mailbox.submit(ctx, ref, c, true, func(i *instance) bool {
		attached, refusal = h.table.attach(i, attach)
		attached.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return attached, firstError(err, refusal)
	}
	a := h.mailbox.await(ctx, i, c)
	return a.attached, a.err
}

// Signal implements agent.Instances.
func (h *Host) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if err := firstError(ref.Validate(), signal.Validate()); err != nil {
		return agent.Reply{}, err
	}
	c := callOf(ctx)
	c.signal = &signal
	i, err := h.mailbox.submit(ctx, ref, c, true, nil)
	if err != nil {
		return agent.Reply{}, err
	}
	if signal.Cast {
		return agent.Reply{Node: h.o.Node, Epoch: i.epoch}, nil
	}
	a := h.mailbox.await(ctx, i, c)
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
	if agent.OnlyErased(ctx) { // it began after the erasure, or is not awake
		return notAwake(ref)
	}
	c := callOf(ctx)
	c.hibernate, c.stop = lifecycleManual, true
	i, err := h.mailbox.submit(ctx, ref, c, false, nil)
	if err != nil {
		return err
	}
	return h.mailbox.await(ctx, i, c).err
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
	i, unlock, err := h.table.lockInstance(ref)
	defer unlock()
	if err == nil && i != nil {
		h.table.detach(i, attachment)
	}
	return err
}

// Touch implements agent.Instances. An instance that is not awake is not_found.
func (h *Host) Touch(_ context.Context, ref agent.InstanceRef, attachment string) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	i, unlock, err := h.table.lockInstance(ref)
	defer unlock()
	switch {
	case err != nil:
		return err
	case i == nil:
		return notAwake(ref)
	default:
		return h.table.touch(i, attachment)
	}
}

// Lookup implements agent.Instances.
func (h *Host) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	if err := ref.Validate(); err != nil {
		return agent.Instance{}, err
	}
	i, unlock, err := h.table.lockInstance(ref)
	if seededbug.Is(seededbug.LookupSkipsEpoch) && i == nil {
		i, err = h.table.inAnyEpoch(ref, err)
	}
	var result agent.Instance
	if err == nil && i != nil {
		result = h.table.describe(i)
	}
	unlock()
	if err != nil || i != nil && result.Status != agent.InstanceWaking {
		return result, err
	}
	found, err := h.store.lookupStored(ctx, ref)
	if i == nil || err != nil && !isCode(err, agent.CodeNotFound) {
		return found, err
	}
	result.Revision, result.Rev = found.Revision, found.Rev // unknown in memory before it is awake
	return result, nil
}
