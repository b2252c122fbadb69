package access

import (
	"cmp"
	"context"
	"io"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// operator checks the calls of an layout.Operator.
type operator struct{ inner layout.Operator }

// NewOperator returns an operator that serves each call only if the principal in its context may
// make it.
func NewOperator(inner layout.Operator) layout.Operator { return operator{inner} }

func may(ctx context.Context, n need, scope string) error {
	p := From(ctx)
	if p == nil {
		return unauthenticated()
	}
	if err := p.current(); err != nil {
		return err
	}
	if refusal := p.check(n, cmp.Or(scope, agent.DefaultScope)); refusal != nil {
		return refusal
	}
	return nil
}

// MaySeeCluster reports whether the principal in ctx may read the status of the cluster.
func MaySeeCluster(ctx context.Context) bool { return may(ctx, toSeeCluster, "") == nil }

// Status implements layout.Operator.
func (o operator) Status(ctx context.Context) (layout.ClusterStatus, error) {
	if err := may(ctx, toSeeCluster, ""); err != nil {
		return layout.ClusterStatus{}, err
	}
	return o.inner.Status(ctx)
}

// Change implements layout.Operator.
func (o operator) Change(ctx context.Context, change layout.Change, node string) (string, error) {
	if err := may(ctx, toChangeCluster, ""); err != nil {
		return "", err
	}
	return o.inner.Change(ctx, change, node)
}

// PinPartition implements layout.Operator.
func (o operator) PinPartition(ctx context.Context, partition int, node string) error {
	if err := may(ctx, toChangeCluster, ""); err != nil {
		return err
	}
	return o.inner.PinPartition(ctx, partition, node)
}

// JoinToken implements layout.Operator.
func (o operator) JoinToken(ctx context.Context, ttl time.Duration) (layout.JoinToken, error) {
	if err := may(ctx, toChangeCluster, ""); err != nil {
		return layout.JoinToken{}, err
	}
	return o.inner.JoinToken(ctx, ttl)
}

// Backup implements layout.Operator.
func (o operator) Backup(ctx context.Context, w io.Writer) error {
	if err := may(ctx, toBackUp, ""); err != nil {
		return err
	}
	return o.inner.Backup(ctx, w)
}

// Backups implements layout.Operator.
func (o operator) Backups(ctx context.Context) (layout.Backups, error) {
	if err := may(ctx, toBackUp, ""); err != nil {
		return layout.Backups{}, err
	}
	return o.inner.Backups(ctx)
}

// TakeBackup implements layout.Operator.
func (o operator) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if err := may(ctx, toBackUp, ""); err != nil {
		return layout.BackupInfo{}, err
	}
	return o.inner.TakeBackup(ctx, progress)
}

// ExportScope implements layout.Operator.
func (o operator) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := may(ctx, toAdmin, scope); err != nil {
		return err
	}
	return o.inner.ExportScope(ctx, scope, write)
}

// Placement implements layout.Operator.
func (o operator) Placement(ctx context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := may(ctx, toSeeCluster, ""); err != nil {
		return layout.Placement{}, err
	}
	return o.inner.Placement(ctx, q)
}
