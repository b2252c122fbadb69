package attack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
	apipb "dormouse/proto/api"
)

func (a *target) dial() *rpc.ClientConn {
	a.Helper()
	conn, err := rpc.NewClient("passthrough:///"+a.node.GRPCAddr(), rpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = conn.Close() })
	return conn
}

func bearing(ctx context.Context, secret string) context.Context {
	if secret == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+secret)
}

// methods returns the full names of all methods of the API, and whether they stream.
func methods() map[string]bool {
	all := map[string]bool{}
	for _, service := range []rpc.ServiceDesc{apipb.Store_ServiceDesc, apipb.Instances_ServiceDesc, apipb.Cluster_ServiceDesc} {
		for _, m := range service.Methods {
			all["/"+service.ServiceName+"/"+m.MethodName] = false
		}
		for _, m := range service.Streams {
			all["/"+service.ServiceName+"/"+m.StreamName] = true
		}
	}
	return all
}

// attempt calls a method with an empty message and returns the code of its outcome.
func attempt(ctx context.Context, conn *rpc.ClientConn, method string, streams bool) codes.Code {
	if !streams {
		return status.Code(conn.Invoke(ctx, method, &apipb.StatusRequest{}, &apipb.StatusRequest{}))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &rpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return status.Code(err)
	}
	_ = stream.SendMsg(&apipb.StatusRequest{}) // Recv has the error
	_ = stream.CloseSend()
	return status.Code(stream.RecvMsg(&apipb.StatusRequest{}))
}

func TestWithoutAValidTokenEachGRPCMethodIsClosed(t *testing.T) {
	a := newTarget(t)
	conn := a.dial()
	id, revoked := a.token("gone", 0, agent.Everything()...)
	if _, err := a.node.RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for method, streams := range methods() {
		for _, secret := range []string{"", "dorm_x", revoked, access.NewSecret()} {
			code := attempt(bearing(t.Context(), secret), conn, method, streams)
			guessed := secret != "" && code == codes.ResourceExhausted
			if code != codes.Unauthenticated && !guessed {
				t.Errorf("%s with token %.6q: %v", method, secret, code)
			}
		}
	}
}

// as returns a client with a token.
func (a *target) as(secret string) *client.Client {
	a.Helper()
	c, err := client.Dial(client.Options{Endpoints: []string{a.node.GRPCAddr()}, Fixed: true, Token: secret, Timeout: 10 * time.Second})
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = c.Close() })
	return c
}

func TestATokenOfAScopeGetsNothingOfAnotherOverGRPC(t *testing.T) {
	a := newTarget(t)
	_, mine := a.token("mine", 0, on("mine", agent.ScopeVerbs()...))
	c := a.as(mine)
	ctx := t.Context()
	before := a.dump()
	ref := agent.InstanceRef{Scope: "theirs", Manager: "x", Key: "y"}
	i := c.Instances()
	calls := map[string]func() error{
		"commit": func() error {
			_, err := c.Commit(ctx, agent.Commit{Scope: "theirs", Ops: []agent.Op{&agent.PutValue{Key: "x"}}})
			return err
		},
		"read": func() error {
			_, err := c.Read(ctx, agent.Reads{Scope: "theirs", Reads: []agent.Read{&agent.GetValue{Key: "x"}}})
			return err
		},
		"stale read": func() error {
			_, err := c.Read(ctx, agent.Reads{Scope: "theirs", Stale: true, Reads: []agent.Read{&agent.GetValue{Key: "x"}}})
			return err
		},
		"watch": func() (failed error) {
			for _, err := range c.Watch(ctx, agent.Watch{Scope: "theirs", Thread: "x"}) {
				failed = err
				break
			}
			return failed
		},
		"changes": func() (failed error) {
			for _, err := range c.Watch(ctx, agent.Watch{Scope: "theirs", Changes: true, From: 1}) {
				failed = err
				break
			}
			return failed
		},
		"start":     func() error { _, err := i.Start(ctx, ref, agent.StartInstance{}); return err },
		"lookup":    func() error { _, err := i.Lookup(ctx, ref); return err },
		"stop":      func() error { return i.Stop(ctx, ref) },
		"hibernate": func() error { return i.Hibernate(ctx, ref) },
		"attach":    func() error { _, err := i.Attach(ctx, ref, agent.Attach{Attachment: "a"}); return err },
		"detach":    func() error { return i.Detach(ctx, ref, "a") },
		"touch":     func() error { return i.Touch(ctx, ref, "a") },
		"signal":    func() error { _, err := i.Signal(ctx, ref, agent.Signal{Type: "get"}); return err },
		"stats":     func() error { _, err := i.Stats(ctx, "theirs", "x"); return err },
		"all stats": func() error { _, err := i.Stats(ctx, "", ""); return err },
		"instances": func() (failed error) {
			for _, err := range i.Watch(ctx, agent.InstanceWatch{Scope: "theirs", Manager: "x"}) {
				failed = err
				break
			}
			return failed
		},
		"status":    func() error { _, err := c.Status(ctx); return err },
		"change":    func() error { _, err := c.Change(ctx, layout.ChangeLeave, "n1"); return err },
		"backup":    func() error { return c.Backup(ctx, &strings.Builder{}) },
		"export":    func() error { return c.ExportScope(ctx, "theirs", func(agent.ScopePart) error { return nil }) },
		"placement": func() error { _, err := c.Placement(ctx, layout.PlacementQuery{}); return err },
		"tokens": func() error {
			_, _, err := c.CreateToken(ctx, agent.PutToken{Principal: "mine", Grants: agent.Everything()})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); agent.CodeOf(err) != agent.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := a.dump(); after != before {
		t.Errorf("the other scope has changed:\n%s\n%s", before, after)
	}
}

// A client cannot name another principal or token in its messages.
func TestAClientCannotSpeakForAnotherPrincipal(t *testing.T) {
	a := newTarget(t)
	_, writer := a.token("writer", 0, on("mine", agent.VerbWrite))
	conn := a.dial()
	root := agent.HashToken(a.node.RootToken()).TokenID()
	_, err := apipb.NewStoreClient(conn).Commit(bearing(t.Context(), writer), &apipb.CommitRequest{Scope: "theirs", Principal: "root", Token: root})
	if status.Code(err) != codes.PermissionDenied && status.Code(err) != codes.InvalidArgument {
		t.Errorf("a commit in the name of root: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(bearing(t.Context(), writer), "authorization", "Bearer "+a.node.RootToken())
	if _, err := apipb.NewClusterClient(conn).WhoAmI(ctx, &apipb.WhoAmIRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a call with two tokens: %v", err)
	}
}
