package client

import (
	"context"
	"crypto/rand"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/instance/pod"
	apipb "dormouse/proto/api"
)

// instances implements agent.Instances over the nodes that the client knows. Each node
// accepts any call and routes it to the owner. If the owner is known from an earlier
// call, the call goes there directly.
type instances struct{ client *Client }

// Instances returns the cluster's live instances. Calls that were not handled are
// retried until their time is over. A signal has a request id of the client, so it is
// also retried when its outcome is unknown, and its turn is stored once. Only effects
// that are not stored with the turn (durability idle, storage none) may then happen
// twice. A call that is refused after an unknown attempt is unknown, because the
// refusal does not settle that attempt.
func (c *Client) Instances() agent.Instances { return instances{c} }

// Pods returns the cluster's pods.
func (c *Client) Pods() pod.Pods {
	return pod.Pods{Instances: c.Instances(), Service: c, Scope: c.o.Scope}
}

// persistent makes a call about an instance; see callWithRetry.
func persistent[T any](ctx context.Context, c *Client, ref *agent.InstanceRef, kind callKind, call func(context.Context, convert.Remote) (T, error)) (T, error) {
	var none T
	if ref.Scope == "" {
		ref.Scope = c.o.Scope
	}
	if err := ref.Validate(); err != nil {
		return none, err
	}
	var d *direct
	if c.owners != nil {
		d = c.owners.of(*ref)
	}
	return onInstances(ctx, c, kind, d, call)
}

// onInstances is persistent for calls about no single instance if d is nil.
func onInstances[T any](ctx context.Context, c *Client, kind callKind, d *direct, call func(context.Context, convert.Remote) (T, error)) (T, error) {
	return callWithRetry(ctx, c, kind, d, func(ctx context.Context, conn *grpc.ClientConn) (T, error) {
		return call(ctx, convert.Remote{
			API: apipb.NewInstancesClient(ownerHintConn{conn, d}), Fail: func(err error, change bool) error { return errorOf(err, change) },
		})
	})
}

// Start implements agent.Instances.
func (i instances) Start(ctx context.Context, ref agent.InstanceRef, start agent.StartInstance) (agent.Instance, error) {
	if err := start.Validate(); err != nil {
		return agent.Instance{}, err
	}
	return persistent(ctx, i.client, &ref, repeatable, func(ctx context.Context, at convert.Remote) (agent.Instance, error) { return at.Start(ctx, ref, start) })
}

// Lookup implements agent.Instances.
func (i instances) Lookup(ctx context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	return persistent(ctx, i.client, &ref, reading, func(ctx context.Context, at convert.Remote) (agent.Instance, error) { return at.Lookup(ctx, ref) })
}

// Stop implements agent.Instances.
func (i instances) Stop(ctx context.Context, ref agent.InstanceRef) error {
	return i.act(ctx, ref, onceOnly, func(ctx context.Context, at convert.Remote, ref agent.InstanceRef) error { return at.Stop(ctx, ref) })
}

// Hibernate implements agent.Instances.
func (i instances) Hibernate(ctx context.Context, ref agent.InstanceRef) error {
	return i.act(ctx, ref, onceOnly, func(ctx context.Context, at convert.Remote, ref agent.InstanceRef) error {
		return at.Hibernate(ctx, ref)
	})
}

// Attach implements agent.Instances.
func (i instances) Attach(ctx context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	attach.Name(rand.Text()) // here, so that all attempts use the same id
	if err := attach.Validate(); err != nil {
		return agent.Attached{}, err
	}
	return persistent(ctx, i.client, &ref, repeatable, func(ctx context.Context, at convert.Remote) (agent.Attached, error) {
		return at.Attach(ctx, ref, attach)
	})
}

// Detach implements agent.Instances.
func (i instances) Detach(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	return i.act(ctx, ref, repeatable, func(ctx context.Context, at convert.Remote, ref agent.InstanceRef) error {
		return at.Detach(ctx, ref, attachment)
	})
}

// Touch implements agent.Instances.
func (i instances) Touch(ctx context.Context, ref agent.InstanceRef, attachment string) error {
	return i.act(ctx, ref, repeatable, func(ctx context.Context, at convert.Remote, ref agent.InstanceRef) error {
		return at.Touch(ctx, ref, attachment)
	})
}

// Signal implements agent.Instances. It sets the request id of a signal without one.
func (i instances) Signal(ctx context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	switch own := signal.Request.Client == ""; {
	case own && signal.Cast:
		// A separate client id: the turn runs after the call has returned. The low
		// numbers of this client's later requests must not expire it.
		signal.Request = agent.Request{Client: "cast/" + rand.Text(), Seq: 1, TTL: signal.Request.TTL}
	case own:
		ctx, cancel := i.client.bounded(ctx)
		defer cancel()
		if err := i.client.signals.slots.Acquire(ctx, 1); err != nil {
			return agent.Reply{}, neverSent(err)
		}
		defer i.client.signals.slots.Release(1)
		w, seq, low := i.client.signals.next()
		defer w.settle(seq)
		signal.Request = agent.Request{Client: w.client, Seq: seq, Low: low, TTL: signal.Request.TTL}
	}
	if err := signal.Validate(); err != nil {
		return agent.Reply{}, err
	}
	return persistent(ctx, i.client, &ref, repeatable, func(ctx context.Context, at convert.Remote) (agent.Reply, error) { return at.Signal(ctx, ref, signal) })
}

// Stats implements agent.Instances.
func (i instances) Stats(ctx context.Context, scope, manager string) (agent.ManagerStats, error) {
	if scope == "" {
		scope = i.client.o.Scope
	}
	return onInstances(ctx, i.client, reading, nil, func(ctx context.Context, at convert.Remote) (agent.ManagerStats, error) {
		return at.Stats(ctx, scope, manager)
	})
}

// act is persistent for calls without a result.
func (i instances) act(ctx context.Context, ref agent.InstanceRef, kind callKind, call func(context.Context, convert.Remote, agent.InstanceRef) error) error {
	_, err := persistent(ctx, i.client, &ref, kind, func(ctx context.Context, at convert.Remote) (struct{}, error) {
		return struct{}{}, call(ctx, at, ref)
	})
	return err
}
