package grpc

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/internal/budget"
	apipb "dormouse/proto/api"
)

// api is the state that all services share.
type api struct {
	service   agent.Submitter
	operator  layout.Operator
	instances agent.Instances // nil if there are none
	owner     func(agent.InstanceRef) string
	draining  context.Context //nolint:containedctx // ends when Shutdown begins
	trusted   bool            // commits were validated by the peer that sends them
	timeout   time.Duration   // of a call without its own timeout

	others         func() metadata.MD // the addresses of the other members; read once, when the first stream ends
	authenticating bool               // calls have principals

	bytes            *budget.Pool // of all calls in flight; nil has no bound
	inFlightMax      int64        // of one Exchange stream
	inFlightBytesMax int64
	logger           hclog.Logger
}

func (f *api) register(s *rpc.Server) {
	apipb.RegisterStoreServer(s, &store{api: f})
	apipb.RegisterInstancesServer(s, &instances{api: f})
	apipb.RegisterClusterServer(s, &cluster{api: f})
}

// bounded gives a call without a deadline the default one.
func (f *api) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.timeout)
}

// whileServing ends the context of a long stream when Shutdown begins.
func (f *api) whileServing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.draining, cancel)
	return ctx, func() { stop(); cancel() }
}

// once returns a function that calls ask the first time and returns its answer each time.
// Concurrent callers wait on a channel, because a mutex of sync.OnceValue would be held while ask
// calls other nodes.
func once(ask func() metadata.MD) func() metadata.MD {
	var asked atomic.Bool
	var answer metadata.MD
	done := make(chan struct{})
	return func() metadata.MD {
		if asked.CompareAndSwap(false, true) {
			defer close(done)
			answer = ask()
			return answer
		}
		<-done
		return answer
	}
}

// othersMax bounds the time in which a stopping node reads the other members.
const othersMax = 500 * time.Millisecond

// otherMembers returns the addresses of the other members, from the status that read returns.
func otherMembers(read func(context.Context) (layout.ClusterStatus, error)) metadata.MD {
	md := metadata.MD{}
	if read == nil {
		return md
	}
	ctx, cancel := context.WithTimeout(context.Background(), othersMax)
	defer cancel()
	status, err := read(ctx)
	if err != nil {
		return md
	}
	for _, m := range status.Members {
		if m.ID != status.Node && m.GRPCAddr != "" {
			md.Append(convert.MembersTrailer, m.GRPCAddr)
		}
	}
	return md
}

// commit runs one unary write.
func (f *api) commit(ctx context.Context, req *apipb.CommitRequest) (*apipb.CommitResponse, error) {
	c, err := convert.CommitFromProto(req)
	if err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	f.trust(&c, req)
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	result, err := f.service.Commit(ctx, c)
	if err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	return convert.ResultToProto(&result), nil
}

// read runs one unary read.
func (f *api) read(ctx context.Context, req *apipb.ReadRequest) (*apipb.ReadResponse, error) {
	r, err := convert.ReadsFromProto(req)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	answers, err := f.service.Read(ctx, r)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return convert.AnswersToProto(&answers), nil
}
