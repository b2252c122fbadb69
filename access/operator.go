package access

import (
	"cmp"
	"context"
	"io"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// BarrierTokens are the tokens of a node that can bring its state up to date.
type BarrierTokens interface {
	Tokens

	// Barrier returns once this node has applied all entries that were committed before the call. The
	// error is unavailable if it cannot tell, as without a leader.
	Barrier(ctx context.Context) error
}

// operator checks the calls of a layout.Operator.
type operator struct {
	inner  layout.Operator
	tokens BarrierTokens
}

// NewOperator returns an operator that serves each call only if the principal in its context may
// make it. Calls that only read the status are checked against the tokens that this node knows, so
// that a node without a leader answers them. For all others a token that was revoked before the call
// is refused.
func NewOperator(inner layout.Operator, tokens BarrierTokens) layout.Operator {
	return operator{inner, tokens}
}

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

// may returns an error unless the caller may make a call that reads the status.
func (o operator) may(ctx context.Context, n need) error {
	if err := may(ctx, n, ""); err != nil {
		return err
	}
	return live(o.tokens, From(ctx))
}

// mayNow returns an error unless the caller may make a call in the scope, also by the newest state of
// the cluster: what the call returns, such as a join token, is of use after its token was revoked.
func (o operator) mayNow(ctx context.Context, n need, scope string) error {
	if err := may(ctx, n, scope); err != nil {
		return err
	}
	p := From(ctx)
	if p.TokenID == "" {
		return nil
	}
	if err := o.tokens.Barrier(ctx); err != nil {
		return agent.Errorf(agent.CodeUnavailable, "this node cannot check the token now: %v", err)
	}
	return live(o.tokens, p)
}

// MaySeeCluster reports whether the principal in ctx may read the status of the cluster.
func MaySeeCluster(ctx context.Context) bool { return may(ctx, toSeeCluster, "") == nil }

// Status implements layout.Operator.
func (o operator) Status(ctx context.Context) (layout.ClusterStatus, error) {
	if err := o.may(ctx, toSeeCluster); err != nil {
		return layout.ClusterStatus{}, err
	}
	return o.inner.Status(ctx)
}

// Change implements layout.Operator.
func (o operator) Change(ctx context.Context, change layout.Change, node string) (string, error) {
	if err := o.mayNow(ctx, toChangeCluster, ""); err != nil {
		return "", err
	}
	return o.inner.Change(ctx, change, node)
}

// PinPartition implements layout.Operator.
func (o operator) PinPartition(ctx context.Context, partition int, node string) error {
	if err := o.mayNow(ctx, toChangeCluster, ""); err != nil {
		return err
	}
	return o.inner.PinPartition(ctx, partition, node)
}

// JoinToken implements layout.Operator.
func (o operator) JoinToken(ctx context.Context, ttl time.Duration) (layout.JoinToken, error) {
	if err := o.mayNow(ctx, toChangeCluster, ""); err != nil {
		return layout.JoinToken{}, err
	}
	return o.inner.JoinToken(ctx, ttl)
}

// Backup implements layout.Operator.
func (o operator) Backup(ctx context.Context, w io.Writer) error {
	if err := o.mayNow(ctx, toBackUp, ""); err != nil {
		return err
	}
	return o.inner.Backup(ctx, w)
}

// Backups implements layout.Operator.
func (o operator) Backups(ctx context.Context) (layout.Backups, error) {
	if err := o.may(ctx, toBackUp); err != nil {
		return layout.Backups{}, err
	}
	return o.inner.Backups(ctx)
}

// TakeBackup implements layout.Operator.
func (o operator) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if err := o.mayNow(ctx, toBackUp, ""); err != nil {
		return layout.BackupInfo{}, err
	}
	return o.inner.TakeBackup(ctx, progress)
}

// ExportScope implements layout.Operator.
func (o operator) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := o.mayNow(ctx, toAdmin, scope); err != nil {
		return err
	}
	return o.inner.ExportScope(ctx, scope, write)
}

// Placement implements layout.Operator.
func (o operator) Placement(ctx context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := o.may(ctx, toSeeCluster); err != nil {
		return layout.Placement{}, err
	}
	return o.inner.Placement(ctx, q)
}
