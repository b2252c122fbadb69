package peer

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
	peerpb "dormouse/proto/peer"
)

// Instances implements router.InstancePeers: the instances that the node at addr
// owns. A call without an answer has the reason unreachable. Its code is unknown if
// it was sent and changes something, and unavailable otherwise.
func (p *Pool) Instances(addr string) agent.Instances {
	return convert.Remote{API: apipb.NewInstancesClient(connected{pool: p, addr: addr}), Fail: instanceError}
}

// Relay implements router.InstancePeers: the instances that the node at addr can
// reach, with the errors of Instances.
func (p *Pool) Relay(addr string) agent.Instances {
	return convert.Remote{API: apipb.NewInstancesClient(relayed{connected{pool: p, addr: addr}}), Fail: instanceError}
}

// relayed asks the node to forward calls to the owner.
type relayed struct{ connected }

// Invoke implements grpc.ClientConnInterface.
func (r relayed) Invoke(ctx context.Context, method string, args, reply any, o ...grpc.CallOption) error {
	return r.connected.Invoke(metadata.AppendToOutgoingContext(ctx, convert.RelayHeader, "1"), method, args, reply, o...)
}

// Ping implements router.Pinger. Any answer of the process counts: a host answers
// that it does not serve Status.
func (p *Pool) Ping(ctx context.Context, addr string) error {
	l, err := p.link(addr)
	if err != nil {
		return err
	}
	_, err = l.peer.Status(ctx, &peerpb.StatusRequest{}, grpc.WaitForReady(true))
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return fromStatus(err)
	default:
		return nil
	}
}

// connected sends calls only over an established connection, so that the error of a
// call that was not sent says so.
type connected struct {
	pool *Pool
	addr string
}

// Invoke implements grpc.ClientConnInterface.
func (c connected) Invoke(ctx context.Context, method string, args, reply any, o ...grpc.CallOption) error {
	l, err := c.ready(ctx)
	if err != nil {
		return toStatus(err)
	}
	return l.conn.Invoke(ctx, method, args, reply, o...)
}

// NewStream implements grpc.ClientConnInterface.
func (c connected) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, o ...grpc.CallOption) (grpc.ClientStream, error) {
	l, err := c.ready(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	return l.conn.NewStream(ctx, desc, method, o...)
}

// ready returns the link to the peer once its connection is established.
func (c connected) ready(ctx context.Context) (*link, error) {
	l, err := c.pool.link(c.addr)
	if err == nil && !ready(ctx, l.conn, c.pool.Connect) {
		err = unreachable(agent.CodeUnavailable, "no connection to the peer %s", c.addr)
	}
	return l, err
}

// ready waits for the connection, at most as long as given.
func ready(ctx context.Context, conn *grpc.ClientConn, atMost time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		state := conn.GetState()
		switch state {
		case connectivity.Ready:
			return true
		case connectivity.Shutdown:
			return false
		case connectivity.Idle:
			conn.Connect()
		case connectivity.Connecting, connectivity.TransientFailure:
		}
		if !conn.WaitForStateChange(ctx, state) {
			return false
		}
	}
}

// instanceError converts the error of a call on an instance. change says that the
// call changes something and may have been handled.
func instanceError(err error, change bool) error {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if e, ok := detail.(*oppb.Error); ok {
			return ops.ErrorFromProto(e)
		}
	}
	if change {
		return unreachable(agent.CodeUnknown, "the owner did not answer; the call may have been handled: %s", s.Message())
	}
	return unreachable(agent.CodeUnavailable, "the owner did not answer: %s", s.Message())
}

// unreachable returns an error with the reason that makes a router send the call
// through another node, if the call may be repeated.
func unreachable(code agent.Code, format string, args ...any) *agent.Error {
	err := agent.Errorf(code, format, args...)
	err.Reason = agent.ReasonUnreachable
	return err
}
