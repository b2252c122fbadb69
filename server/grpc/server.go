package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/internal/budget"
	"dormouse/internal/listener"
	"dormouse/proto/codec"
)

// Options configure a server; the zero value of each is its default.
type Options struct {
	Credentials      credentials.TransportCredentials // nil means plain text
	ConnectionsMax   int                              // accepted at once, more wait in the backlog; 0 means 4,096
	StreamsMax       uint32                           // calls and streams of one connection at once; 0 means 1,024
	InFlightMax      int                              // calls in flight on one Exchange stream; 0 means 4,096
	InFlightBytesMax int64                            // and their bytes; 0 means 64 MiB
	Bytes            *budget.Pool                     // of requests and answers in flight, shared with other servers; nil means 192 MiB
	WatchesMax       int64                            // watches at once; 0 means 16,384
	Timeout          time.Duration                    // of a call without its own timeout; 0 means 10 s
	Logger           hclog.Logger                     // nil means silent
	ClusterID        func() string                    // of the node's cluster, "" while it belongs to none; nil means that answers do not name a cluster
	Instances        agent.Instances                  // nil means none: calls on them are unavailable

	// Auth finds the principals of calls. If it is set, the service, the operator and Instances must
	// be guarded by package access. nil means that the node asks for no credentials.
	Auth *access.Authenticator

	// Audit records what this package refuses itself. What the service, the operator and Instances
	// refuse, they record themselves. nil means that nothing is recorded.
	Audit access.Auditor

	// Status returns the status of the cluster without a check of the caller: a node that stops reads
	// the addresses of the other members from it, and sends them only to those that may see them. nil
	// means the status of the operator, which then must not be guarded.
	Status func(context.Context) (layout.ClusterStatus, error)

	// Owner returns the gRPC address of the node that owns an instance if that is another node,
	// else "". The server sends it to clients. nil means that it does not.
	Owner func(agent.InstanceRef) string
}

func (o *Options) fill() {
	setDefault(&o.ConnectionsMax, 4096)
	setDefault(&o.StreamsMax, 1024)
	setDefault(&o.InFlightMax, inFlightMaxDefault)
	setDefault(&o.InFlightBytesMax, inFlightBytesMaxDefault)
	setDefault(&o.WatchesMax, 16384)
	setDefault(&o.Timeout, timeoutDefault)
	if o.Bytes == nil {
		o.Bytes = budget.New(bytesDefault)
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

const (
	timeoutDefault          = 10 * time.Second
	timeoutMax              = 5 * time.Minute // longest timeout that a client may set
	inFlightMaxDefault      = 4096
	inFlightBytesMaxDefault = 64 << 20
	bytesDefault            = 192 << 20

	handshakeTimeout   = 10 * time.Second
	headerBytesMax     = 16 << 10
	streamWindowBytes  = 1 << 20
	connWindowBytes    = 4 << 20
	keepaliveEvery     = 30 * time.Second // ping an idle client
	keepaliveTimeout   = 10 * time.Second
	keepaliveMinAllows = 5 * time.Second // clients that ping more often are disconnected
	flushGrace         = 500 * time.Millisecond
)

// Server is a gRPC server. Create it with New.
type Server struct {
	rpc     *rpc.Server
	frames  *frames
	health  *health.Server
	api     *api
	connsN  int
	room    *room
	cluster func() string // nil: answers do not name a cluster
	auth    *access.Authenticator
	audit   access.Auditor

	drain context.CancelFunc // ends api.draining

	mu       sync.Mutex
	stopping bool           // guarded by mu; no more calls
	calls    sync.WaitGroup // handlers of this package's services; Add is guarded by mu and !stopping
}

// New returns a server of service and operator. It starts nothing, and health checks get "not
// serving" until SetServing.
func New(service agent.Submitter, operator layout.Operator, o Options) *Server {
	o.fill()
	if o.Status == nil && operator != nil {
		o.Status = operator.Status
	}
	draining, drain := context.WithCancel(context.Background())
	s := &Server{
		health:  health.NewServer(),
		connsN:  o.ConnectionsMax,
		room:    &room{bytes: o.Bytes, watches: budget.New(o.WatchesMax), health: budget.New(healthWatchesMax)},
		cluster: o.ClusterID,
		auth:    o.Auth,
		audit:   o.Audit,
		drain:   drain,
		api: &api{
			service: service, operator: operator, instances: o.Instances, owner: o.Owner, draining: draining, timeout: o.Timeout, bytes: o.Bytes,
			inFlightMax: int64(o.InFlightMax), inFlightBytesMax: o.InFlightBytesMax, logger: o.Logger,
			others: once(func() metadata.MD { return otherMembers(o.Status) }), authenticating: o.Auth != nil,
		},
	}
	options := append(MessageLimits(),
		rpc.ForceServerCodecV2(counting),
		rpc.MaxConcurrentStreams(o.StreamsMax),
		rpc.MaxHeaderListSize(headerBytesMax),
		rpc.ConnectionTimeout(handshakeTimeout),
		rpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout}),
		rpc.ChainUnaryInterceptor(s.unary),
		rpc.ChainStreamInterceptor(s.stream),
	)
	if o.Credentials == nil {
		o.Credentials = insecure.NewCredentials()
	}
	s.frames = newFrames(&store{api: s.api}, s.stream, o.Bytes)
	s.rpc = rpc.NewServer(append(options, rpc.Creds(port{o.Credentials, s.frames}))...)
	s.api.register(s.rpc)
	healthpb.RegisterHealthServer(s.rpc, s.health)
	reflection.Register(s.rpc)
	s.SetServing(false)
	return s
}

// MessageLimits returns the options of every server of the Store service, also of one for peers:
// message sizes, the codec, and the allowed rate of pings. gRPC's default is one ping in 5 min,
// with which it would disconnect every idle client, and the commits that it has in flight.
func MessageLimits() []rpc.ServerOption {
	return []rpc.ServerOption{
		rpc.MaxRecvMsgSize(convert.RequestMessageBytesMax),
		rpc.MaxSendMsgSize(convert.ReplyMessageBytesMax),
		rpc.ForceServerCodecV2(codec.Codec),
		rpc.InitialWindowSize(streamWindowBytes),
		rpc.InitialConnWindowSize(connWindowBytes),
		rpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveMinAllows, PermitWithoutStream: true}),
	}
}

// SetServing sets the status for health checks, of the server and of each of its services.
func (s *Server) SetServing(serving bool) {
	status := healthpb.HealthCheckResponse_NOT_SERVING
	if serving {
		status = healthpb.HealthCheckResponse_SERVING
	}
	s.health.SetServingStatus("", status)
	for name := range s.rpc.GetServiceInfo() {
		s.health.SetServingStatus(name, status)
	}
}

// Serve accepts connections until Shutdown, which makes it return nil, or until the listener fails.
// It closes the listener. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.room.conns.closeStalled(ctx, s.api.logger)
	err := s.rpc.Serve(trackingListener{listener.Limit(l, s.connsN, nil), &s.room.conns})
	if err != nil && !errors.Is(err, rpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC on %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown refuses new calls, waits for those in flight, and closes all connections. If ctx ends
// first, it closes them then and returns its error. Long streams (idle Exchange streams, Watch) end
// at once with unavailable; clients then use another node.
func (s *Server) Shutdown(ctx context.Context) error {
	s.health.Shutdown()
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	s.drain()
	graceful, served := make(chan struct{}), make(chan struct{})
	go func() { s.rpc.GracefulStop(); close(graceful) }()
	go func() { s.calls.Wait(); close(served) }()
	var err error
	select {
	case <-served:
		// Health watches, reflection and the last frames remain; Shutdown does not wait for them
		// longer than flushGrace.
		grace, cancel := context.WithTimeout(ctx, flushGrace)
		s.frames.wait(grace)
		select {
		case <-graceful:
		case <-grace.Done():
		}
		cancel()
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.rpc.Stop() // ends the contexts of all calls
	s.frames.close()
	<-graceful
	<-served
	return err
}
