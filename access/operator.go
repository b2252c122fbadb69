package access

import (
	"context"
	"io"

	"dormouse/agent"
)

// operator checks the calls of an agent.Operator.
type operator struct{ inner agent.Operator }

// NewOperator returns an operator that serves each call only if the principal in its context may
// make it.
func NewOperator(inner agent.Operator) agent.Operator { return operator{inner} }

func may(ctx context.Context, n need, scope string) error {
	p := From(ctx)
	if p == nil {
		return unauthenticated()
	}
	if refusal := p.check(n, scopeOf(scope)); refusal != nil {
		return refusal
	}
	return nil
}

// Status implements agent.Operator.
func (o operator) Status(ctx context.Context) (agent.ClusterStatus, error) {
	if err := may(ctx, toSeeCluster, ""); err != nil {
		return agent.ClusterStatus{}, err
	}
	return o.inner.Status(ctx)
}

// Change implements agent.Operator.
func (o operator) Change(ctx context.Context, change agent.Change, node string) (string, error) {
	if err := may(ctx, toChangeCluster, ""); err != nil {
		return "", err
	}
	return o.inner.Change(ctx, change, node)
}

// Backup implements agent.Operator.
func (o operator) Backup(ctx context.Context, w io.Writer) error {
	if err := may(ctx, toBackUp, ""); err != nil {
		return err
	}
	return o.inner.Backup(ctx, w)
}

// ExportScope implements agent.Operator.
func (o operator) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := may(ctx, toAdmin, scope); err != nil {
		return err
	}
	return o.inner.ExportScope(ctx, scope, write)
}

// Placement implements agent.Operator.
func (o operator) Placement(ctx context.Context, q agent.PlacementQuery) (agent.Placement, error) {
	if err := may(ctx, toSeeCluster, ""); err != nil {
		return agent.Placement{}, err
	}
	return o.inner.Placement(ctx, q)
}
