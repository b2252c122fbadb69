package peer

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	grpcpeer "google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"dormouse/cluster/transport"
	peerpb "dormouse/proto/peer"
)

// A node that belongs to no cluster yet may ask who is there, ask to be let in, and ask to found
// one, and nothing else: what members send is trusted, since they have judged it.
var forStrangers = map[string]bool{
	peerpb.Peer_Status_FullMethodName:        true,
	peerpb.Peer_Join_FullMethodName:          true,
	peerpb.Peer_GrantFounding_FullMethodName: true,
}

// ServerOptions are what a server for peers must be made with: it takes only
// connections that have shaken hands, and lets members alone call everything.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(handshaken{}),
		// Pools ask every pingEvery whether a node is still there; a server that
		// was not told so cuts them off for it.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery / 2}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, r any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if err := allow(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return handle(ctx, r)
		}),
		grpc.ChainStreamInterceptor(func(s any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if err := allow(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return handle(s, stream)
		}),
	}
}

// allow tells whether the caller may call method. Where nobody knows who
// calls, it may not.
func allow(ctx context.Context, method string) error {
	if forStrangers[method] {
		return nil
	}
	if caller, ok := callerOf(ctx); ok && caller.ClusterID != "" {
		return nil
	}
	return status.Error(codes.PermissionDenied, "only members of this cluster may call this: join it first")
}

// callerOf is who is at the other end of a call.
func callerOf(ctx context.Context) (transport.Identity, bool) {
	p, ok := grpcpeer.FromContext(ctx)
	if !ok {
		return transport.Identity{}, false
	}
	caller, ok := p.AuthInfo.(member)
	return caller.Identity, ok
}

// member is who is at the other end, as the handshake has settled it.
type member struct{ transport.Identity }

// AuthType implements credentials.AuthInfo.
func (member) AuthType() string { return "dormouse" }

// handshaken makes the stream layer's identity known to gRPC. It adds nothing
// to the wire.
type handshaken struct{}

func (handshaken) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	identity, ok := transport.IdentityOf(c)
	if !ok {
		return nil, nil, errors.New("a connection to the peer server has not shaken hands")
	}
	return c, member{identity}, nil
}

func (handshaken) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("for servers only")
}

func (handshaken) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "dormouse"}
}

func (h handshaken) Clone() credentials.TransportCredentials { return h }

func (handshaken) OverrideServerName(string) error { return nil }
