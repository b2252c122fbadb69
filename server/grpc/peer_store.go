package grpc

import (
	"context"

	"github.com/hashicorp/go-hclog"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// PeerStore serves only the Store service, to peers: their commits were validated by a node and are
// trusted. Create it with NewPeerStore, then a server with Port and MessageLimits, and then register
// it. Its port takes frames for Exchange, and for the streams of other services that Handle names.
type PeerStore struct {
	store  *store
	frames *frames
}

// NewPeerStore returns the service for peers.
func NewPeerStore(service agent.Submitter) *PeerStore {
	f := &api{
		service: service, draining: context.Background(), trusted: true, timeout: timeoutDefault,
		// A peer forwards commits of all of its clients on one stream.
		inFlightMax: 4 * inFlightMaxDefault, inFlightBytesMax: 2 * inFlightBytesMaxDefault,
		logger: hclog.NewNullLogger(),
	}
	s := &store{api: f}
	return &PeerStore{store: s, frames: newFrames(s, nil, nil)}
}

// Port returns the credentials of the server: inner, and the streams that come as frames, which pass
// the interceptor.
func (p *PeerStore) Port(inner credentials.TransportCredentials, intercept rpc.StreamServerInterceptor) credentials.TransportCredentials {
	p.frames.intercept = intercept
	return port{inner, p.frames}
}

// Register registers the service at its server.
func (p *PeerStore) Register(s *rpc.Server) { apipb.RegisterStoreServer(s, p.store) }

// Handle adds a stream of another service, by gRPC's full name of its method, whose connections may
// carry frames. Call it before the server serves.
func (p *PeerStore) Handle(method string, serve func(rpc.ServerStream) error) {
	p.frames.handlers[method] = serve
}

// Close closes the connections that carry frames. Call it once the server is stopped.
func (p *PeerStore) Close() { p.frames.close() }
