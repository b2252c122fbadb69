package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/net/netutil"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
)

// Options are what a server may be told; the zero value of each is its default.
type Options struct {
	Credentials      credentials.TransportCredentials // nil means plain text
	ConnectionsMax   int                              // accepted at once, more wait in the backlog; 0 means 4,096
	StreamsMax       uint32                           // calls and streams of one connection at once; 0 means 1,024
	InFlightMax      int                              // calls in flight on one Exchange stream; 0 means 4,096
	InFlightBytesMax int64                            // and their bytes; 0 means 64 MiB
	Timeout          time.Duration                    // of a call that names none; 0 means 10 s
	Logger           hclog.Logger                     // nil means silent
	ClusterID        func() string                    // of the node's cluster, "" while it belongs to none; nil means that callers are not told
	Instances        agent.Instances                  // nil means none: calls on them are unavailable

	// Owner is the gRPC address of the node that owns an instance where that is
	// another, or "". Callers are told. nil means that they are not.
	Owner func(agent.InstanceRef) string
}

func (o *Options) fill() {
	setDefault(&o.ConnectionsMax, 4096)
	setDefault(&o.StreamsMax, 1024)
	setDefault(&o.InFlightMax, inFlightMaxDefault)
	setDefault(&o.InFlightBytesMax, inFlightBytesMaxDefault)
	setDefault(&o.Timeout, timeoutDefault)
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
	timeoutMax              = 5 * time.Minute // longest wait that a caller may ask for
	inFlightMaxDefault      = 4096
	inFlightBytesMaxDefault = 64 << 20

	handshakeTimeout   = 10 * time.Second
	headerBytesMax     = 16 << 10
	streamWindowBytes  = 1 << 20
	connWindowBytes    = 4 << 20
	keepaliveEvery     = 30 * time.Second // ask an idle peer whether it is there
	keepaliveTimeout   = 10 * time.Second
	keepaliveMinAllows = 5 * time.Second // peers that ask more often are cut off
	flushGrace         = 500 * time.Millisecond
)

// Server is one gRPC front. Make it with New.
type Server struct {
	rpc     *rpc.Server
	health  *health.Server
	front   *front
	connsN  int
	cluster func() string // nil: callers are not told

	drain context.CancelFunc // ends front.draining

	mu       sync.Mutex
	stopping bool           // guarded by mu; no more calls
	calls    sync.WaitGroup // our own services' handlers; Add is guarded by mu and !stopping
}

// New makes a server of service and operator. It starts nothing, and says
// "not serving" to health checks until SetServing.
func New(service agent.Submitter, operator agent.Operator, o Options) *Server {
	o.fill()
	draining, drain := context.WithCancel(context.Background())
	s := &Server{
		health:  health.NewServer(),
		connsN:  o.ConnectionsMax,
		cluster: o.ClusterID,
		drain:   drain,
		front: &front{
			service: service, operator: operator, instances: o.Instances, owner: o.Owner, draining: draining, timeout: o.Timeout,
			inFlightMax: int64(o.InFlightMax), inFlightBytesMax: o.InFlightBytesMax, logger: o.Logger,
			others: once(func() metadata.MD { return otherMembers(operator) }),
		},
	}
	options := append(MessageLimits(),
		rpc.MaxConcurrentStreams(o.StreamsMax),
		rpc.MaxHeaderListSize(headerBytesMax),
		rpc.ConnectionTimeout(handshakeTimeout),
		rpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout}),
		rpc.ChainUnaryInterceptor(s.unary),
		rpc.ChainStreamInterceptor(s.stream),
	)
	if o.Credentials != nil {
		options = append(options, rpc.Creds(o.Credentials))
	}
	s.rpc = rpc.NewServer(options...)
	s.front.register(s.rpc)
	healthpb.RegisterHealthServer(s.rpc, s.health)
	reflection.Register(s.rpc)
	s.SetServing(false)
	return s
}

// MessageLimits are the options that every server of the Store service needs,
// one for peers too: what its callers may send, how it is coded, and how often
// they may ask whether it is there. gRPC's own allowance is a ping in 5 min: it
// would cut off every idle client, and every commit that such a one then has in
// flight.
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

// RegisterPeerStore serves the Store service alone, to peers: what they send
// was validated by a node and is trusted. Make the server with MessageLimits.
func RegisterPeerStore(s *rpc.Server, service agent.Submitter) {
	f := &front{
		service: service, draining: context.Background(), trusted: true, timeout: timeoutDefault,
		// A peer forwards for all of its own clients over one stream.
		inFlightMax: 4 * inFlightMaxDefault, inFlightBytesMax: 2 * inFlightBytesMaxDefault,
		logger: hclog.NewNullLogger(),
	}
	apipb.RegisterStoreServer(s, &store{front: f})
}

// SetServing is what health checks are told, for the server as a whole and
// for each of its services.
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

// Serve accepts connections until Shutdown, which makes it return nil, or
// until the listener fails. It closes the listener. It may be called for
// several listeners.
func (s *Server) Serve(l net.Listener) error {
	err := s.rpc.Serve(netutil.LimitListener(l, s.connsN))
	if err != nil && !errors.Is(err, rpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC on %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown takes no new calls, lets those in flight finish, and closes all
// connections: at the latest when ctx ends, whose error it then returns. Long
// streams (Exchange once it is idle, Watch) end at once with unavailable, on
// which clients go elsewhere.
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
		// What is left are health watches and reflection, and the last frames
		// on their way out; neither may hold us up.
		grace, cancel := context.WithTimeout(ctx, flushGrace)
		select {
		case <-graceful:
		case <-grace.Done():
		}
		cancel()
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.rpc.Stop() // ends the contexts of all calls
	<-graceful
	<-served
	return err
}
