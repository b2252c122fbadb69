package audit

import (
	"cmp"
	"context"
	"io"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// operator records the calls of an operator that change or copy the cluster.
type operator struct {
	layout.Operator
	r *Recorder
}

// Operator returns an operator that makes each change and each copy between two records.
func (r *Recorder) Operator(inner layout.Operator) layout.Operator { return &operator{inner, r} }

func clusterRecord(ctx context.Context, kind Kind, action string, verb agent.Verb) Record {
	rec := of(ctx, kind, action)
	rec.Verb = string(verb)
	return rec
}

// Change implements layout.Operator.
func (o *operator) Change(ctx context.Context, change layout.Change, node string) (leader string, err error) {
	rec := clusterRecord(ctx, KindAdmin, string(change)+"_node", agent.VerbClusterChange)
	if node != "" {
		rec.Object = []string{node}
	}
	err = o.r.around(ctx, rec, func(*Record) (err error) {
		leader, err = o.Operator.Change(ctx, change, node)
		return err
	})
	return leader, err
}

// PinPartition implements layout.Operator.
func (o *operator) PinPartition(ctx context.Context, partition int, node string) error {
	rec := clusterRecord(ctx, KindAdmin, pinAction(node), agent.VerbClusterChange)
	rec.Object = pinObject(partition, node)
	return o.r.around(ctx, rec, func(*Record) error { return o.Operator.PinPartition(ctx, partition, node) })
}

func pinAction(node string) string {
	if node == "" {
		return "unpin_partition"
	}
	return "pin_partition"
}

func pinObject(partition int, node string) []string {
	object := []string{layout.PartitionClaim(partition)}
	if node != "" {
		object = append(object, node)
	}
	return object
}

// JoinToken implements layout.Operator. The record has no secret.
func (o *operator) JoinToken(ctx context.Context, ttl time.Duration) (token layout.JoinToken, err error) {
	rec := clusterRecord(ctx, KindAdmin, "create_join_token", agent.VerbClusterChange)
	err = o.r.around(ctx, rec, func(rec *Record) (err error) {
		if token, err = o.Operator.JoinToken(ctx, ttl); err == nil {
			rec.Detail = "valid until " + stamp(time.UnixMilli(token.ExpiresAt))
		}
		return err
	})
	return token, err
}

// Backup implements layout.Operator.
func (o *operator) Backup(ctx context.Context, w io.Writer) error {
	rec := clusterRecord(ctx, KindBackup, "backup", agent.VerbClusterBackup)
	return o.r.around(ctx, rec, func(rec *Record) error {
		counted := &counter{w: w}
		err := o.Operator.Backup(ctx, counted)
		rec.Bytes = counted.n
		return err
	})
}

// TakeBackup implements layout.Operator.
func (o *operator) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (taken layout.BackupInfo, err error) {
	rec := clusterRecord(ctx, KindBackup, "take_backup", agent.VerbClusterBackup)
	err = o.r.around(ctx, rec, func(rec *Record) (err error) {
		if taken, err = o.Operator.TakeBackup(ctx, progress); err == nil {
			rec.Object, rec.Bytes = []string{taken.Name}, taken.Bytes
		}
		return err
	})
	return taken, err
}

// ExportScope implements layout.Operator.
func (o *operator) ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error {
	rec := clusterRecord(ctx, KindBackup, "export_scope", agent.VerbAdmin)
	rec.Scope = cmp.Or(scope, agent.DefaultScope)
	return o.r.around(ctx, rec, func(rec *Record) error {
		return o.Operator.ExportScope(ctx, scope, func(part agent.ScopePart) error {
			if err := write(part); err != nil {
				return err
			}
			rec.Bytes += int64(len(part.Rows))
			return nil
		})
	})
}

// counter counts the bytes that it writes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
