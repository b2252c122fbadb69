package grpc_test

import (
	"context"
	"io"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
	"dormouse/server/grpc"
)

// late is an operator and instances that run out of time, whatever they are asked.
type late struct{}

var errLate = context.DeadlineExceeded

func (late) Status(context.Context) (s layout.ClusterStatus, err error)    { return s, errLate }
func (late) Change(context.Context, layout.Change, string) (string, error) { return "", errLate }
func (late) PinPartition(context.Context, int, string) error               { return errLate }
func (late) JoinToken(context.Context, time.Duration) (t layout.JoinToken, _ error) {
	return t, errLate
}
func (late) Backup(context.Context, io.Writer) error               { return errLate }
func (late) Backups(context.Context) (b layout.Backups, err error) { return b, errLate }
func (late) TakeBackup(context.Context, func(layout.BackupProgress)) (b layout.BackupInfo, err error) {
	return b, errLate
}

func (late) ExportScope(context.Context, string, func(agent.ScopePart) error) error { return errLate }

func (late) Placement(context.Context, layout.PlacementQuery) (p layout.Placement, err error) {
	return p, errLate
}

// lateInstances are instances that run out of time.
type lateInstances struct{}

func (lateInstances) Start(context.Context, agent.InstanceRef, agent.StartInstance) (i agent.Instance, err error) {
	return i, errLate
}

func (lateInstances) Lookup(context.Context, agent.InstanceRef) (i agent.Instance, err error) {
	return i, errLate
}
func (lateInstances) Stop(context.Context, agent.InstanceRef) error      { return errLate }
func (lateInstances) Hibernate(context.Context, agent.InstanceRef) error { return errLate }
func (lateInstances) Attach(context.Context, agent.InstanceRef, agent.Attach) (a agent.Attached, err error) {
	return a, errLate
}
func (lateInstances) Detach(context.Context, agent.InstanceRef, string) error { return errLate }
func (lateInstances) Touch(context.Context, agent.InstanceRef, string) error  { return errLate }
func (lateInstances) Signal(context.Context, agent.InstanceRef, agent.Signal) (r agent.Reply, err error) {
	return r, errLate
}

func (lateInstances) Stats(context.Context, string, string) (s agent.ManagerStats, err error) {
	return s, errLate
}

func (lateInstances) Watch(context.Context, agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	return func(yield func(agent.InstanceEvent, error) bool) { yield(agent.InstanceEvent{}, errLate) }
}

// A change that runs out of time may still be made, so its outcome is unknown. A read that does is only unavailable.
func TestAChangeThatRunsOutOfTimeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := grpc.New(&fake{}, late{}, grpc.Options{Instances: lateInstances{}})
		conn := serveOn(t, server)
		c, i, ctx := apipb.NewClusterClient(conn), apipb.NewInstancesClient(conn), t.Context()
		ref := convert.RefToProto(agent.InstanceRef{Manager: "m", Key: "k"})
		node, one, attachment := &apipb.NodeRequest{Node: "n"}, &apipb.InstanceRequest{Ref: ref}, &apipb.AttachmentRequest{Ref: ref, Attachment: "a"}
		of := func(_ any, err error) error { return err }
		received := func(s interface{ RecvMsg(any) error }, into any, err error) error {
			if err != nil {
				return err
			}
			return s.RecvMsg(into)
		}
		taken, takes := c.TakeBackup(ctx, &apipb.TakeBackupRequest{})
		copied, copies := c.Backup(ctx, &apipb.BackupRequest{})
		exported, exports := c.ExportScope(ctx, &apipb.ExportScopeRequest{})
		watched, watches := i.Watch(ctx, &apipb.WatchInstancesRequest{Manager: "m"})
		for want, calls := range map[agent.Code]map[string]error{
			agent.CodeUnknown: {
				"leave": of(c.Leave(ctx, node)), "transfer": of(c.Transfer(ctx, node)), "promote": of(c.Promote(ctx, node)), "demote": of(c.Demote(ctx, node)),
				"drain": of(c.Drain(ctx, node)), "resume": of(c.Resume(ctx, node)), "pin": of(c.PinPartition(ctx, &apipb.PinPartitionRequest{Node: "n"})),
				"take a backup": received(taken, &apipb.TakeBackupEvent{}, takes),
				"start":         of(i.Start(ctx, &apipb.StartRequest{Ref: ref})), "stop": of(i.Stop(ctx, one)), "hibernate": of(i.Hibernate(ctx, one)),
				"attach": of(i.Attach(ctx, &apipb.AttachRequest{Ref: ref, Attachment: "a"})), "detach": of(i.Detach(ctx, attachment)), "touch": of(i.Touch(ctx, attachment)),
				"signal": of(i.Signal(ctx, convert.SignalToProto(agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"}))),
			},
			agent.CodeUnavailable: {
				"status": of(c.Status(ctx, &apipb.StatusRequest{})), "placement": of(c.Placement(ctx, &apipb.PlacementRequest{})),
				"backups": of(c.Backups(ctx, &apipb.BackupsRequest{})), "join token": of(c.JoinToken(ctx, &apipb.JoinTokenRequest{})),
				"backup": received(copied, &apipb.BackupChunk{}, copies), "export": received(exported, &apipb.ExportScopeChunk{}, exports),
				"lookup": of(i.Lookup(ctx, one)), "stats": of(i.Stats(ctx, &apipb.ManagerStatsRequest{Manager: "m"})),
				"watch": received(watched, &apipb.InstanceEvent{}, watches),
			},
		} {
			for name, err := range calls {
				var got *agent.Error
				for _, detail := range status.Convert(err).Details() {
					if e, ok := detail.(*oppb.Error); ok {
						got = ops.ErrorFromProto(e)
					}
				}
				if got == nil || got.Code != want {
					t.Errorf("%s: %v, want %s", name, err, want)
				}
			}
		}
	})
}
