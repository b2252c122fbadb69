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
	if err := first(ref.Validate(), start.Validate()); err != nil {
		return agent.Instance{}, err
	}
	l := newLetter()
	l.start = &start
	var found agent.Instance
	i, err := h.post(ctx, ref, l, true, func(i *instance) bool {
		h.use(i)
		found = h.view(i)
		found.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return found, err
	}
	a := h.await(ctx, i, l)
	return a.instance, a.err
}

// Attach implements agent.Instances.
func (h *Host) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	if err := first(ref.Validate(), attach.Validate()); err != nil {
		return agent.Attached{}, err
	}
	l := newLetter()
	l.attach = &attach
	var attached agent.Attached
	var refusal error
	i, err := h.post(ctx, ref, l, true, func(i *instance) bool {
		attached, refusal = h.attach(i, attach)
		attached.Source = agent.SourceAwake
		return true
	})
	if err != nil || i == nil {
		return attached, first(err, refusal)
	}
	a := h.await(ctx, i, l)
	return a.attached, a.err
}

// Signal implements agent.Instances.
func (h *Host) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if err := first(ref.Validate(), signal.Validate()); err != nil {
		return agent.Reply{}, err
	}
	l := newLetter()
	l.signal = &signal
	i, err := h.post(ctx, ref, l, true, nil)
	if err != nil {
		return agent.Reply{}, err
	}
	if signal.Cast {
		return agent.Reply{Node: h.o.Node, Epoch: i.epoch}, nil
	}
	a := h.await(ctx, i, l)
	return a.reply, a.err
}

// Stop implements agent.Instances.
func (h *Host) Stop(ctx context.Context, ref agent.InstanceRef) error {
	if err := ref.Validate(); err != nil {
		return err
	}
	if ended, err := h.endErased(ctx, ref); ended || err != nil {
		return err
	}
	l := newLetter()
	l.sleep, l.stop = lifecycleManual, true
	i, err := h.post(ctx, ref, l, false, nil)
	if err != nil {
		return err
	}
	return h.await(ctx, i, l).err
}

// Hibernate implements agent.Instances. Of one that sleeps already it makes sure
// that it is stored.
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
	if err := first(ref.Validate(), agent.ValidID("attachment", attachment)); err != nil {
		return err
	}
	i, unlock, err := h.standing(ref)
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
	i, unlock, err := h.standing(ref)
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

// standing is the instance in memory, nil where there is none, under mu until
// unlock is called.
func (h *Host) standing(ref agent.InstanceRef) (i *instance, unlock func(), err error) {
	h.mu.Lock()
	unlock = h.mu.Unlock
	p, err := h.owns(partitionOf(ref))
	if err == nil && h.life == nil {
		err = errStopping
	}
	if err != nil {
		return nil, unlock, err
	}
	if f := h.families[familyID{ref.Scope, ref.Manager}]; f != nil {
		if i = f.instances[ref.Key]; i != nil && i.epoch != p.Epoch {
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
	i, unlock, err := h.standing(ref)
	var there agent.Instance
	if err == nil && i != nil {
		there = h.view(i)
	}
	unlock()
	if err != nil || i != nil && there.Status != agent.InstanceWaking {
		return there, err
	}
	found, err := h.kept(ctx, ref)
	if i == nil || err != nil && !isCode(err, agent.CodeNotFound) {
		return found, err
	}
	there.Revision, there.Rev = found.Revision, found.Rev // which it does not know itself before it is awake
	return there, nil
}

// kept is an instance as what is stored of it says.
func (h *Host) kept(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	f, err := h.family(ctx, ref.Scope, ref.Manager)
	if err != nil {
		return agent.Instance{}, err
	}
	_, service, _ := h.config(f)
	if service == nil {
		return agent.Instance{}, notAwake(ref)
	}
	return h.dormant(ctx, ref, service)
}

// dormant is an instance as its checkpoint says.
func (h *Host) dormant(ctx context.Context, ref agent.InstanceRef, service agent.Service) (agent.Instance, error) {
	key := ref.Checkpoint()
	answers, err := service.Read(ctx, agent.Reads{Scope: ref.Scope, Reads: []agent.Read{
		&agent.CheckpointHistory{Key: key}, &agent.GetThread{Thread: key},
	}})
	if err != nil {
		return agent.Instance{}, unavailable(ctx, err)
	}
	p, err := h.owns(partitionOf(ref)) // still, or it may be awake elsewhere
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
		return agent.Instance{}, agent.Errorf(agent.CodeNotFound, "there is no instance %q of manager %q", ref.Key, ref.Manager)
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
