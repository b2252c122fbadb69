package peer

import (
	"context"
	"errors"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	grpcpeer "google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	"dormouse/internal/tracing/grpctrace"
	peerpb "dormouse/proto/peer"
)

// forJoining are the methods that a node without a cluster may call: it may ask for
// a status, to join, and to found a cluster.
var forJoining = map[string]bool{
	peerpb.Peer_Status_FullMethodName:        true,
	peerpb.Peer_Join_FullMethodName:          true,
	peerpb.Peer_GrantFounding_FullMethodName: true,
}

// forHosts are the methods that a host of this cluster may call, besides a status. It has no vote, and sends its
// commits as a client: the server trusts the commits of nodes, which validate them.
var forHosts = map[string]bool{
	peerpb.Peer_Own_FullMethodName:        true,
	peerpb.Peer_Table_FullMethodName:      true,
	peerpb.Handlers_Handle_FullMethodName: true,
}

// instancesService begins the names of the methods that hosts and nodes call on the
// owner of an instance.
const instancesService = "/dormouse.api.v1.Instances/"

// Port returns the credentials of a server whose port takes more than gRPC: those of the connections
// that it hands to gRPC. What it serves itself must pass the interceptor.
type Port func(credentials.TransportCredentials, grpc.StreamServerInterceptor) credentials.TransportCredentials

// ServerOptions returns the options of a server for peers. It accepts only
// connections with a completed handshake, and lets only members call all methods. A nil
// port takes gRPC only.
func ServerOptions(port Port) []grpc.ServerOption {
	var accept credentials.TransportCredentials = handshaken{}
	if port != nil {
		accept = port(accept, allowStream)
	}
	return []grpc.ServerOption{
		grpc.Creds(accept),
		// Pools ping every pingEvery; a server closes connections that ping more often
		// than its policy allows.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery / 2}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, r any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			if err := allow(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return handle(grpctrace.Incoming(ctx), r)
		}),
		grpc.ChainStreamInterceptor(allowStream),
	}
}

func allowStream(s any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := allow(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handle(s, stream)
}

// allow returns an error if the caller may not call method. The handshake has
// proved the caller's role.
func allow(ctx context.Context, method string) error {
	caller, ok := callerOf(ctx)
	switch {
	case !ok:
	case caller.Role == keys.Host:
		if method == peerpb.Peer_Status_FullMethodName || caller.ClusterID != "" && (forHosts[method] || strings.HasPrefix(method, instancesService)) {
			return nil
		}
		return status.Errorf(codes.PermissionDenied, "host %q may not call %s: only nodes may", caller.Node, method)
	case caller.Role == keys.Node && (forJoining[method] || caller.ClusterID != ""):
		return nil
	}
	return status.Error(codes.PermissionDenied, "only members of this cluster may call this: join it first")
}

// callerOf returns the identity of the caller.
func callerOf(ctx context.Context) (transport.Identity, bool) {
	p, ok := grpcpeer.FromContext(ctx)
	if !ok {
		return transport.Identity{}, false
	}
	caller, ok := p.AuthInfo.(member)
	return caller.Identity, ok
}

// member is the caller's identity by the handshake.
type member struct{ transport.Identity }

// AuthType implements credentials.AuthInfo.
func (member) AuthType() string { return "dormouse" }

// handshaken hands the identity of the handshake to gRPC. It sends nothing.
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
