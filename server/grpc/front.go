package grpc

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// front is what all services share.
type front struct {
	service   agent.Submitter
	operator  agent.Operator
	instances agent.Instances // nil where there are none
	owner     func(agent.InstanceRef) string
	draining  context.Context //nolint:containedctx // ends when Shutdown begins
	trusted   bool            // commits were validated by the peer that sends them
	timeout   time.Duration   // of a call that names none

	others func() metadata.MD // where the other members are; looked up once, when the first stream ends

	inFlightMax      int64 // of one Exchange stream
	inFlightBytesMax int64
	logger           hclog.Logger
}

func (f *front) register(s *rpc.Server) {
	apipb.RegisterStoreServer(s, &store{front: f})
	apipb.RegisterInstancesServer(s, &instances{front: f})
	apipb.RegisterClusterServer(s, &cluster{front: f})
}

// bounded gives a call the deadline that it did not bring.
func (f *front) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.timeout)
}

// whileServing ends the context of a long stream when Shutdown begins.
func (f *front) whileServing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(f.draining, cancel)
	return ctx, func() { stop(); cancel() }
}

// once returns a function that calls ask the first time and returns its answer
// each time. Callers that come meanwhile wait on a channel, as a mutex of
// sync.OnceValue would be held while ask calls other nodes.
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

// othersMax bounds the look at who else is a member, by a node that stops.
const othersMax = 500 * time.Millisecond

// otherMembers says where the other members are.
func otherMembers(operator agent.Operator) metadata.MD {
	md := metadata.MD{}
	if operator == nil {
		return md
	}
	ctx, cancel := context.WithTimeout(context.Background(), othersMax)
	defer cancel()
	status, err := operator.Status(ctx)
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

// commit is one unary write.
func (f *front) commit(ctx context.Context, req *apipb.CommitRequest) (*apipb.CommitResponse, error) {
	c, err := convert.CommitFromProto(req)
	if err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	if f.trusted {
		c.Trust()
	}
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	result, err := f.service.Commit(ctx, c)
	if err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	return convert.ResultToProto(&result), nil
}

// read is one unary read.
func (f *front) read(ctx context.Context, req *apipb.ReadRequest) (*apipb.ReadResponse, error) {
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
