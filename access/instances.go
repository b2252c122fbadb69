package access

import (
	"context"
	"iter"

	"dormouse/agent"
)

// instances checks the calls of an agent.Instances.
type instances struct {
	inner  agent.Instances
	tokens Tokens
}

// NewInstances returns a service of instances that serves each call only if the principal in its
// context may make it.
func NewInstances(inner agent.Instances, tokens Tokens) agent.Instances {
	return instances{inner, tokens}
}

// may returns an error unless the caller may make a call in the scope. Such calls are not commits
// of the caller, so the token is checked here, as of the newest entry that this node has applied.
func (i instances) may(ctx context.Context, n need, scope string) error {
	if err := may(ctx, n, scope); err != nil {
		return err
	}
	return live(i.tokens, From(ctx))
}

// Start implements agent.Instances.
func (i instances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return agent.Instance{}, err
	}
	return i.inner.Start(ctx, ref, start)
}

// Lookup implements agent.Instances.
func (i instances) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	if err := i.may(ctx, toRead, ref.Scope); err != nil {
		return agent.Instance{}, err
	}
	return i.inner.Lookup(ctx, ref)
}

// Stop implements agent.Instances.
func (i instances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return err
	}
	return i.inner.Stop(ctx, ref)
}

// Hibernate implements agent.Instances.
func (i instances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return err
	}
	return i.inner.Hibernate(ctx, ref)
}

// Attach implements agent.Instances.
func (i instances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return agent.Attached{}, err
	}
	return i.inner.Attach(ctx, ref, attach)
}

// Detach implements agent.Instances.
func (i instances) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return err
	}
	return i.inner.Detach(ctx, ref, attachment)
}

// Touch implements agent.Instances.
func (i instances) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return err
	}
	return i.inner.Touch(ctx, ref, attachment)
}

// Signal implements agent.Instances.
func (i instances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	if err := i.may(ctx, toRun, ref.Scope); err != nil {
		return agent.Reply{}, err
	}
	return i.inner.Signal(ctx, ref, signal)
}

// Stats implements agent.Instances. The statistics of all managers of all scopes are of the
// cluster.
func (i instances) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	n := toRead
	if manager == "" {
		n = toSeeCluster
	}
	if err := i.may(ctx, n, scope); err != nil {
		return agent.ManagerStats{}, err
	}
	return i.inner.Stats(ctx, scope, manager)
}

// Watch implements agent.Instances. It ends as Guard.Watch does.
func (i instances) Watch(ctx context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	if err := i.may(ctx, toRead, w.Scope); err != nil {
		return failed[agent.InstanceEvent](err)
	}
	return whileLive(ctx, i.tokens, From(ctx), func(ctx context.Context) iter.Seq2[agent.InstanceEvent, error] { return i.inner.Watch(ctx, w) })
}
