package grpc_test

import (
	"context"
	"strings"
	"testing"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// tokenStore is an access.Store with a token for each secret.
type tokenStore map[agent.TokenHash]agent.Token

func (s tokenStore) Token(hash agent.TokenHash) (agent.Token, bool, error) {
	t, ok := s[hash]
	return t, ok, nil
}

func (s tokenStore) Barrier(context.Context) error { return nil }
func (s tokenStore) LastUsed(string) int64         { return 0 }

func (s tokenStore) Live(id string) bool {
	for _, t := range s {
		if t.ID == id {
			return true
		}
	}
	return false
}

func (s tokenStore) add(principal string, grants ...agent.Grant) (secret string) {
	secret = access.NewSecret()
	hash := agent.HashToken(secret)
	s[hash] = agent.Token{ID: hash.TokenID(), Principal: principal, Grants: grants}
	return secret
}

func bearing(ctx context.Context, secret string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secret)
}

// attempt calls a method with an empty message and returns the code of its outcome.
func attempt(ctx context.Context, conn *rpc.ClientConn, method string, streams bool) codes.Code {
	if !streams {
		return status.Code(conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{}))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &rpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return status.Code(err)
	}
	_ = stream.SendMsg(&emptypb.Empty{}) // Recv has the error
	_ = stream.CloseSend()
	return status.Code(stream.RecvMsg(&emptypb.Empty{}))
}

func TestEachMethodHasARuleAndRefusesCallsWithoutAToken(t *testing.T) {
	tokens := tokenStore{}
	powerless := tokens.add("powerless", agent.Grant{Scopes: []string{"mine"}, Verbs: agent.ScopeVerbs()})
	f := &fake{}
	s, conn := serve(t, f, grpc.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens})})
	for service, info := range s.Info() {
		for _, m := range info.Methods {
			method := "/" + service + "/" + m.Name
			rule := access.OfMethod(method)
			if !rule.Known() {
				t.Errorf("%s has no rule in package access", method)
			}
			if rule.Open() {
				continue
			}
			streams := m.IsClientStream || m.IsServerStream
			for _, ctx := range []context.Context{t.Context(), bearing(t.Context(), access.NewSecret()), bearing(bearing(t.Context(), powerless), powerless)} {
				if code := attempt(ctx, conn, method, streams); code != codes.Unauthenticated {
					t.Errorf("%s without a valid token: %v", method, code)
				}
			}
			if len(rule.Verbs()) > 0 {
				if code := attempt(bearing(t.Context(), powerless), conn, method, streams); code != codes.PermissionDenied {
					t.Errorf("%s without the right: %v", method, code)
				}
			}
		}
	}
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("a health check needs a token: %v", err)
	}
}

// raw is a message that is sent as it is.
type raw []byte

// rawCodec encodes raw messages.
type rawCodec struct{}

func (rawCodec) Name() string                         { return "proto" }
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }
func (rawCodec) Marshal(v any) (b mem.BufferSlice, err error) {
	message, _ := v.(raw)
	return mem.BufferSlice{mem.SliceBuffer(message)}, nil
}

// A call that is refused before its message is looked at leaves nothing of a malformed message behind: a caller without
// a token could otherwise use up the memory of a node.
func TestAMalformedMessageOfARefusedCallIsForgotten(t *testing.T) {
	tokens := tokenStore{}
	_, conn := serve(t, &fake{}, grpc.Options{
		Auth: access.NewAuthenticator(access.Options{Store: tokens}), ClusterID: func() string { return "here" },
	})
	elsewhere := metadata.AppendToOutgoingContext(t.Context(), convert.ClusterHeader, "elsewhere")
	for ctx, want := range map[context.Context]codes.Code{t.Context(): codes.Unauthenticated, elsewhere: codes.Unavailable} {
		for range 10 {
			err := conn.Invoke(ctx, apipb.Store_Commit_FullMethodName, raw("\x0a\xff\xff"), &emptypb.Empty{}, rpc.ForceCodecV2(rawCodec{}))
			if status.Code(err) != want {
				t.Fatalf("%v, want %v", err, want)
			}
		}
	}
	stream, err := conn.NewStream(t.Context(), &rpc.StreamDesc{ServerStreams: true, ClientStreams: true}, healthpb.Health_Watch_FullMethodName, rpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the method takes one
		if err := stream.SendMsg(raw("\x0a\xff\xff")); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.RecvMsg(&emptypb.Empty{}); err == nil {
		t.Fatal("two malformed messages were taken")
	}
	if n := grpc.Malformed(); n != 0 {
		t.Errorf("%d malformed messages are remembered", n)
	}
}

// A node ignores the principal that a client names.
func TestAClientCannotNameItsPrincipal(t *testing.T) {
	tokens := tokenStore{}
	secret := tokens.add("ci", agent.Grant{Scopes: []string{"*"}, Verbs: []agent.Verb{agent.VerbWrite}})
	f := &fake{submit: func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) { done(agent.Result{}, nil) }}
	_, conn := serve(t, f, grpc.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens})})
	_, err := apipb.NewStoreClient(conn).Commit(bearing(t.Context(), secret), &apipb.CommitRequest{Principal: "root", Token: "tok_1"})
	if err != nil {
		t.Fatal(err)
	}
	if c := f.commits[0]; c.Principal != "" || c.Token != "" { // the guard sets them
		t.Errorf("the service got a commit of %q with token %q", c.Principal, c.Token)
	}
	who, err := apipb.NewClusterClient(conn).WhoAmI(bearing(t.Context(), secret), &apipb.WhoAmIRequest{})
	if err != nil || who.Name != "ci" || !strings.HasPrefix(who.TokenId, "tok_") {
		t.Errorf("%v, %v", who, err)
	}
}
