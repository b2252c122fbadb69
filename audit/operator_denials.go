package audit

import (
	"cmp"
	"context"
	"io"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// OperatorDenials is Denials for an operator.
func (r *Recorder) OperatorDenials(guarded layout.Operator) layout.Operator {
	return &operatorDenials{guarded, r}
}

type operatorDenials struct {
	inner layout.Operator
	r     *Recorder
}

func (o *operatorDenials) see(ctx context.Context, action string, verb agent.Verb, scope string, object []string, err error) {
	if denied(err) {
		rec := clusterRecord(ctx, KindDenial, action, verb)
		rec.Scope, rec.Object = scope, object
		o.r.refused(rec, err)
	}
}

// Status implements layout.Operator.
func (o *operatorDenials) Status(ctx context.Context) (layout.ClusterStatus, error) {
	status, err := o.inner.Status(ctx)
	o.see(ctx, "status", agent.VerbClusterRead, "", nil, err)
	return status, err
}

// Change implements layout.Operator.
func (o *operatorDenials) Change(ctx context.Context, change layout.Change, node string) (string, error) {
	leader, err := o.inner.Change(ctx, change, node)
	o.see(ctx, string(change)+"_node", agent.VerbClusterChange, "", []string{node}, err)
	return leader, err
}

// PinPartition implements layout.Operator.
func (o *operatorDenials) PinPartition(ctx context.Context, partition int, node string) error {
	err := o.inner.PinPartition(ctx, partition, node)
	o.see(ctx, pinAction(node), agent.VerbClusterChange, "", pinObject(partition, node), err)
	return err
}

// JoinToken implements layout.Operator.
func (o *operatorDenials) JoinToken(ctx context.Context, ttl time.Duration) (layout.JoinToken, error) {
	token, err := o.inner.JoinToken(ctx, ttl)
	o.see(ctx, "create_join_token", agent.VerbClusterChange, "", nil, err)
	return token, err
}

// Backup implements layout.Operator.
func (o *operatorDenials) Backup(ctx context.Context, w io.Writer) error {
	err := o.inner.Backup(ctx, w)
	o.see(ctx, "backup", agent.VerbClusterBackup, "", nil, err)
	return err
}

// Backups implements layout.Operator.
func (o *operatorDenials) Backups(ctx context.Context) (layout.Backups, error) {
	backups, err := o.inner.Backups(ctx)
	o.see(ctx, "backups", agent.VerbClusterBackup, "", nil, err)
	return backups, err
}

// TakeBackup implements layout.Operator.
func (o *operatorDenials) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	taken, err := o.inner.TakeBackup(ctx, progress)
	o.see(ctx, "take_backup", agent.VerbClusterBackup, "", nil, err)
	return taken, err
}

// ExportScope implements layout.Operator.
func (o *operatorDenials) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	err := o.inner.ExportScope(ctx, scope, write)
	o.see(ctx, "export_scope", agent.VerbAdmin, cmp.Or(scope, agent.DefaultScope), nil, err)
	return err
}

// Placement implements layout.Operator.
func (o *operatorDenials) Placement(ctx context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	placement, err := o.inner.Placement(ctx, q)
	o.see(ctx, "placement", agent.VerbClusterRead, "", nil, err)
	return placement, err
}
