package grpc

import (
	"context"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// authenticated returns the context with the call and the caller's principal, or the status of a call
// that the principal may not make. What the messages of a method ask for, the guarded service checks.
func (s *Server) authenticated(ctx context.Context, method string) (context.Context, error) {
	address := ""
	if from, ok := peer.FromContext(ctx); ok {
		address = from.Addr.String()
	}
	ctx = access.WithCall(ctx, access.Call{Address: address, Method: method})
	rule := access.OfMethod(method)
	if s.auth == nil || rule.Open() {
		return ctx, nil
	}
	p, err := s.principal(ctx, address)
	if err == nil {
		ctx = access.With(ctx, p)
		err = rule.Check(p, "")
	}
	if err != nil {
		if s.audit != nil {
			s.audit.Denied(ctx, access.Subject{Verbs: rule.Verbs()}, err)
		}
		return ctx, statusOf(errorOf(err, false))
	}
	return ctx, nil
}

func (s *Server) principal(ctx context.Context, address string) (*access.Principal, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) > 1 {
		return nil, agent.Errorf(agent.CodeUnauthenticated, "the call has %d authorizations: send one", len(values))
	}
	header := ""
	if len(values) == 1 {
		header = values[0]
	}
	c := access.Credentials{Address: address, Header: header}
	if from, ok := peer.FromContext(ctx); ok {
		if info, ok := from.AuthInfo.(credentials.TLSInfo); ok {
			c.Chains = info.State.VerifiedChains
		}
	}
	return s.auth.Authenticate(ctx, c)
}

// callStream is a stream whose context has the call.
type callStream struct {
	rpc.ServerStream

	ctx context.Context //nolint:containedctx // of the stream
}

func (s callStream) Context() context.Context { return s.ctx }

// WhoAmI returns the caller's principal.
func (s *cluster) WhoAmI(ctx context.Context, _ *apipb.WhoAmIRequest) (*apipb.Principal, error) {
	p := access.From(ctx)
	if p == nil {
		return &apipb.Principal{}, nil
	}
	return &apipb.Principal{Name: p.Name, Grants: ops.GrantsToProto(p.Grants), TokenId: p.TokenID, Source: string(p.Source)}, nil
}

// trust marks a commit of a peer, which has validated it and found its principal.
func (f *api) trust(c *agent.Commit, req *apipb.CommitRequest) {
	if f.trusted {
		c.Trust()
		c.Principal, c.Token = req.Principal, req.Token
	}
}
