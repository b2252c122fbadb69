package audit

import (
	"cmp"
	"context"
	"iter"

	"dormouse/agent"
)

// InstanceDenials is Denials for a service of instances.
func (r *Recorder) InstanceDenials(guarded agent.Instances) agent.Instances {
	return &instanceDenials{guarded, r}
}

type instanceDenials struct {
	inner agent.Instances
	r     *Recorder
}

func (i *instanceDenials) see(ctx context.Context, action string, verb agent.Verb, ref agent.InstanceRef, err error) {
	if !denied(err) {
		return
	}
	rec := of(ctx, KindDenial, action)
	rec.Verb = string(verb)
	if !verb.OfCluster() {
		rec.Scope = cmp.Or(ref.Scope, agent.DefaultScope)
	}
	for _, id := range []string{ref.Manager, ref.Key} {
		if id != "" {
			rec.Object = append(rec.Object, id)
		}
	}
	i.r.refused(rec, err)
}

// Start implements agent.Instances.
func (i *instanceDenials) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	found, err := i.inner.Start(ctx, ref, start)
	i.see(ctx, "start_instance", agent.VerbRun, ref, err)
	return found, err
}

// Lookup implements agent.Instances.
func (i *instanceDenials) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	found, err := i.inner.Lookup(ctx, ref)
	i.see(ctx, "get_instance", agent.VerbRead, ref, err)
	return found, err
}

// Stop implements agent.Instances.
func (i *instanceDenials) Stop(ctx context.Context, ref agent.InstanceRef) error {
	err := i.inner.Stop(ctx, ref)
	i.see(ctx, "stop_instance", agent.VerbRun, ref, err)
	return err
}

// Hibernate implements agent.Instances.
func (i *instanceDenials) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	err := i.inner.Hibernate(ctx, ref)
	i.see(ctx, "hibernate_instance", agent.VerbRun, ref, err)
	return err
}

// Attach implements agent.Instances.
func (i *instanceDenials) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	found, err := i.inner.Attach(ctx, ref, attach)
	i.see(ctx, "attach_instance", agent.VerbRun, ref, err)
	return found, err
}

// Detach implements agent.Instances.
func (i *instanceDenials) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	err := i.inner.Detach(ctx, ref, attachment)
	i.see(ctx, "detach_instance", agent.VerbRun, ref, err)
	return err
}

// Touch implements agent.Instances.
func (i *instanceDenials) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	err := i.inner.Touch(ctx, ref, attachment)
	i.see(ctx, "touch_instance", agent.VerbRun, ref, err)
	return err
}

// Signal implements agent.Instances.
func (i *instanceDenials) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	found, err := i.inner.Signal(ctx, ref, signal)
	i.see(ctx, "signal_instance", agent.VerbRun, ref, err)
	return found, err
}

// Stats implements agent.Instances.
func (i *instanceDenials) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	stats, err := i.inner.Stats(ctx, scope, manager)
	verb := agent.VerbRead
	if manager == "" { // the statistics of all managers are of the cluster
		verb = agent.VerbClusterRead
	}
	i.see(ctx, "count_instances", verb, agent.InstanceRef{Scope: scope, Manager: manager}, err)
	return stats, err
}

// Watch implements agent.Instances.
func (i *instanceDenials) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return observed(i.inner.Watch(ctx, w), func(err error) {
		i.see(ctx, "watch_instances", agent.VerbRead, agent.InstanceRef(w), err)
	})
}
