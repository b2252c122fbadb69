package tenant

import (
	"cmp"
	"context"
	"iter"

	"dormouse/agent"
)

// instances limits the calls of an agent.Instances.
type instances struct {
	inner   agent.Instances
	limiter *Limiter
}

// NewInstances limits a service of instances.
func NewInstances(inner agent.Instances, limiter *Limiter) agent.Instances {
	return instances{inner, limiter}
}

// enter begins a call in a scope, of n bytes. The limiter does not keep an invalid scope.
func (i instances) enter(scope string, n int) error {
	scope = cmp.Or(scope, agent.DefaultScope)
	if err := agent.ValidID("scope", scope); err != nil {
		return err
	}
	bytes, err := i.limiter.enter(scope, 1)
	if err == nil && bytes {
		i.limiter.spend(scope, n)
	}
	return err
}

// Start implements agent.Instances.
func (i instances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	if err := i.enter(ref.Scope, len(start.InitialState)); err != nil {
		return agent.Instance{}, err
	}
	return i.inner.Start(ctx, ref, start)
}

// Lookup implements agent.Instances.
func (i instances) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	if err := i.enter(ref.Scope, 0); err != nil {
		return agent.Instance{}, err
	}
	return i.inner.Lookup(ctx, ref)
}

// Stop implements agent.Instances. It is not limited, because it frees what others need.
func (i instances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	return i.inner.Stop(ctx, ref)
}

// Hibernate implements agent.Instances. It is not limited, as Stop.
func (i instances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	return i.inner.Hibernate(ctx, ref)
}

// Attach implements agent.Instances.
func (i instances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	if err := i.enter(ref.Scope, 0); err != nil {
		return agent.Attached{}, err
	}
	return i.inner.Attach(ctx, ref, attach)
}

// Detach implements agent.Instances. It is not limited, as Stop.
func (i instances) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	return i.inner.Detach(ctx, ref, attachment)
}

// Touch implements agent.Instances.
func (i instances) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	if err := i.enter(ref.Scope, 0); err != nil {
		return err
	}
	return i.inner.Touch(ctx, ref, attachment)
}

// Signal implements agent.Instances. The bytes of its reply count once it has arrived.
func (i instances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if err := i.enter(ref.Scope, len(signal.Data)); err != nil {
		return agent.Reply{}, err
	}
	reply, err := i.inner.Signal(ctx, ref, signal)
	if n := len(reply.Data); n > 0 {
		i.limiter.spend(cmp.Or(ref.Scope, agent.DefaultScope), n)
	}
	return reply, err
}

// Stats implements agent.Instances. The statistics of all managers, which need a verb of the cluster, do
// not count for a scope.
func (i instances) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	if manager == "" {
		return i.inner.Stats(ctx, scope, manager)
	}
	if err := i.enter(scope, 0); err != nil {
		return agent.ManagerStats{}, err
	}
	return i.inner.Stats(ctx, scope, manager)
}

// Watch implements agent.Instances.
func (i instances) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	if err := w.Validate(); err != nil {
		return failed[agent.InstanceEvent](err)
	}
	return watched(i.limiter, w.Scope, i.inner.Watch(ctx, w), func(agent.InstanceEvent) int { return 0 })
}
