package peer

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	grpcpeer "google.golang.org/grpc/peer"

	"dormouse/cluster/keys"
	"dormouse/cluster/transport"
	apipb "dormouse/proto/api"
	peerpb "dormouse/proto/peer"
)

// methods returns the full names of all methods that nodes serve for peers.
func methods() []string {
	var all []string
	for _, service := range []grpc.ServiceDesc{
		peerpb.Peer_ServiceDesc, peerpb.Handlers_ServiceDesc, apipb.Store_ServiceDesc, apipb.Instances_ServiceDesc,
	} {
		for _, m := range service.Methods {
			all = append(all, "/"+service.ServiceName+"/"+m.MethodName)
		}
		for _, s := range service.Streams {
			all = append(all, "/"+service.ServiceName+"/"+s.StreamName)
		}
	}
	slices.Sort(all)
	return all
}

// Each kind of caller may call what is listed here, and nothing else that there is.
func TestWhoMayCallWhat(t *testing.T) {
	peerCalls := func(names ...string) []string {
		for i := range names {
			names[i] = "/dormouse.peer.v1." + names[i]
		}
		return names
	}
	var instances []string
	for _, m := range methods() {
		if strings.Contains(m, ".Instances/") {
			instances = append(instances, m)
		}
	}
	if len(methods()) < 20 || len(instances) < 8 {
		t.Fatalf("only %d methods, %d of instances", len(methods()), len(instances))
	}
	for _, c := range []struct {
		name   string
		caller *transport.Identity
		want   []string
	}{
		{"no handshake", nil, nil},
		{"no role", &transport.Identity{ClusterID: "c", Node: "n2"}, nil},
		{"a joiner", &transport.Identity{Role: keys.Joiner, ClusterID: "c", Node: "n2"}, nil},
		{"a node without a cluster", &transport.Identity{Role: keys.Node, Node: "n2"}, peerCalls("Peer/GrantFounding", "Peer/Join", "Peer/Status")},
		{"a member", &transport.Identity{Role: keys.Node, ClusterID: "c", Node: "n2"}, methods()},
		{"a host without a cluster", &transport.Identity{Role: keys.Host, Node: "h1"}, peerCalls("Peer/Status")},
		{"a host", &transport.Identity{Role: keys.Host, ClusterID: "c", Node: "h1"}, append(peerCalls("Handlers/Handle", "Peer/Own", "Peer/Status", "Peer/Table"), instances...)},
	} {
		ctx := context.Background()
		if c.caller != nil {
			ctx = grpcpeer.NewContext(ctx, &grpcpeer.Peer{AuthInfo: member{*c.caller}})
		}
		var got []string
		for _, m := range methods() {
			if allow(ctx, m) == nil {
				got = append(got, m)
			}
		}
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s may call\n%v\nwant\n%v", c.name, got, c.want)
		}
	}
}
