package peer

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	apipb "dormouse/proto/api"
)

// relays is a server of instances that notes whether a call was to be relayed. Its answers are lost.
type relays struct {
	apipb.UnimplementedInstancesServer
	relayed chan bool
}

func (r relays) Signal(ctx context.Context, _ *apipb.SignalRequest) (*apipb.SignalReply, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	r.relayed <- len(md.Get(convert.RelayHeader)) > 0
	return nil, status.Error(codes.Unavailable, "gone")
}

// poolOfRelays returns a pool of nodes that are relays.
func poolOfRelays(t *testing.T) (*Pool, relays) {
	t.Helper()
	r := relays{relayed: make(chan bool, 1)}
	caller := transport.Identity{Role: keys.Host, ClusterID: "c", Node: "h1"}
	return poolOf(t, caller, func(s *grpc.Server) { apipb.RegisterInstancesServer(s, r) }), r
}

var instance = agent.InstanceRef{Scope: "s", Manager: "m", Key: "k"}

// A call is marked if the node is asked to relay it.
func TestACallIsRelayedOnRequest(t *testing.T) {
	pool, r := poolOfRelays(t)
	for relayed, to := range map[bool]agent.Instances{false: pool.Instances("n1"), true: pool.Relay("n1")} {
		_, err := to.Signal(t.Context(), instance, agent.Signal{Type: "t"})
		if got := <-r.relayed; got != relayed || agent.CodeOf(err) != agent.CodeUnknown {
			t.Errorf("relayed: %t, want %t; %v", got, relayed, err)
		}
	}
}

// A call that an owner has received may have been handled, also one that can be repeated. A call that
// was not sent was not, and a read changes nothing.
func TestACallOnAnInstanceSaysWhetherItMayHaveBeenHandled(t *testing.T) {
	pool, _ := poolOfRelays(t)
	ctx := t.Context()
	calls := map[string]func(at agent.Instances) error{
		"start": func(at agent.Instances) error { _, err := at.Start(ctx, instance, agent.StartInstance{}); return err },
		"attach": func(at agent.Instances) error {
			_, err := at.Attach(ctx, instance, agent.Attach{Attachment: "a"})
			return err
		},
		"touch":     func(at agent.Instances) error { return at.Touch(ctx, instance, "a") },
		"detach":    func(at agent.Instances) error { return at.Detach(ctx, instance, "a") },
		"hibernate": func(at agent.Instances) error { return at.Hibernate(ctx, instance) },
		"stop":      func(at agent.Instances) error { return at.Stop(ctx, instance) },
		"signal": func(at agent.Instances) error {
			_, err := at.Signal(ctx, instance, agent.Signal{Type: "t"})
			return err
		},
		"lookup": func(at agent.Instances) error { _, err := at.Lookup(ctx, instance); return err },
		"stats":  func(at agent.Instances) error { _, err := at.Stats(ctx, "s", "m"); return err },
	}
	for name, call := range calls {
		want := agent.CodeUnknown
		if name == "lookup" || name == "stats" {
			want = agent.CodeUnavailable
		}
		var e *agent.Error
		if err := call(pool.Instances("n1")); !errors.As(err, &e) || e.Code != want || e.Reason != agent.ReasonUnreachable {
			t.Errorf("%s: %v, want %s, unreachable", name, err, want)
		}
	}
	pool.Close()
	for name, call := range calls {
		if err := call(pool.Instances("n1")); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Errorf("%s, which was not sent: %v", name, err)
		}
	}
}
