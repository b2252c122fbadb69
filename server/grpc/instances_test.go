package grpc_test

import (
	"context"
	"testing"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// stopped are instances that record what their stops are for.
type stopped struct {
	lateInstances
	onlyErased []bool
}

func (s *stopped) Stop(ctx context.Context, _ agent.InstanceRef) error {
	s.onlyErased = append(s.onlyErased, agent.OnlyErased(ctx))
	return nil
}

// The owner, which is another process, learns that a stop is for an erasure.
func TestAStopSaysThatItIsForAnErasure(t *testing.T) {
	owner := &stopped{}
	remote := convert.Remote{
		API:  apipb.NewInstancesClient(serveOn(t, grpc.New(&fake{}, late{}, grpc.Options{Instances: owner}))),
		Fail: func(err error, _ bool) error { return err },
	}
	ref := agent.InstanceRef{Manager: "m", Key: "k"}
	for _, ctx := range []context.Context{agent.IfErased(t.Context()), t.Context()} {
		if err := remote.Stop(ctx, ref); err != nil {
			t.Fatal(err)
		}
	}
	if len(owner.onlyErased) != 2 || !owner.onlyErased[0] || owner.onlyErased[1] {
		t.Errorf("the owner learned %v, want true and false", owner.onlyErased)
	}
}

// Only a caller with rights to an instance learns the address of its owner. An invalid call has not shown any.
func TestACallerWithoutRightsDoesNotLearnTheOwner(t *testing.T) {
	tokens := tokenStore{}
	ann := tokens.add("ann", agent.Grant{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead}})
	_, conn := serve(t, &fake{}, grpc.Options{
		Auth: access.NewAuthenticator(access.Options{Store: tokens}), Instances: access.NewInstances(lateInstances{}, tokens),
		Owner: func(agent.InstanceRef) string { return "10.0.0.2:7601" },
	})
	api := apipb.NewInstancesClient(conn)
	in := func(scope string) *apipb.InstanceRef { return &apipb.InstanceRef{Scope: scope, Manager: "m", Key: "k"} }
	for name, c := range map[string]struct {
		secret string
		call   func(ctx context.Context, o rpc.CallOption) error
		code   codes.Code
		learns bool
	}{
		"a lookup": {ann, func(ctx context.Context, o rpc.CallOption) error {
			_, err := api.Lookup(ctx, &apipb.InstanceRequest{Ref: in("s")}, o)
			return err
		}, codes.Unavailable, true},
		"a forbidden lookup": {ann, func(ctx context.Context, o rpc.CallOption) error {
			_, err := api.Lookup(ctx, &apipb.InstanceRequest{Ref: in("other")}, o)
			return err
		}, codes.PermissionDenied, false},
		"an invalid start": {ann, func(ctx context.Context, o rpc.CallOption) error {
			_, err := api.Start(ctx, &apipb.StartRequest{Ref: in("other"), InitialState: []byte("[")}, o)
			return err
		}, codes.InvalidArgument, false},
		"a lookup without a token": {access.NewSecret(), func(ctx context.Context, o rpc.CallOption) error {
			_, err := api.Lookup(ctx, &apipb.InstanceRequest{Ref: in("s")}, o)
			return err
		}, codes.Unauthenticated, false},
	} {
		var header metadata.MD
		err := c.call(bearing(t.Context(), c.secret), rpc.Header(&header))
		if told := header.Get(convert.OwnerHeader); status.Code(err) != c.code || (len(told) > 0) != c.learns {
			t.Errorf("%s: %v, and the owner's address is %q", name, err, told)
		}
	}
}
