package node_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"dormouse/cluster/assign"
	apipb "dormouse/proto/api"
	peerpb "dormouse/proto/peer"
)

// A node that belongs to no cluster calls one that does, over the real handshake: it may request
// information and join, but not use trusted calls.
func TestAStrangerMayOnlyAskAndJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSimCluster(t, 2)
		stranger := w.startAlone("n3")
		dial := func(from *testNode) *grpc.ClientConn {
			conn, err := grpc.NewClient("passthrough:///n1:raft", grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return from.Group().DialPeer(ctx, addr) }))
			if err != nil {
				t.Fatal(err)
			}
			return conn
		}
		if id := stranger.Group().ClusterID(); id != "" {
			t.Fatalf("the stranger belongs to cluster %s", id)
		}
		for _, c := range []struct {
			name string
			from *testNode
			want func(code codes.Code) bool
		}{
			{"a stranger", stranger, func(code codes.Code) bool { return code == codes.PermissionDenied }},
			{"a member", w.awake["n2"], func(code codes.Code) bool { return code != codes.PermissionDenied }},
		} {
			conn := dial(c.from)
			peers, store := peerpb.NewPeerClient(conn), apipb.NewStoreClient(conn)
			if _, err := peers.Status(t.Context(), &peerpb.StatusRequest{}); err != nil {
				t.Errorf("%s may not ask for the status: %v", c.name, err)
			}
			if _, err := peers.Join(t.Context(), &peerpb.JoinRequest{}); err != nil { // refused as incomplete, in its answer
				t.Errorf("%s may not ask to join: %v", c.name, err)
			}
			_, barrier := peers.Barrier(t.Context(), &peerpb.BarrierRequest{})
			_, own := peers.Own(t.Context(), &peerpb.OwnRequest{Kind: string(assign.End), Node: "n1", Incarnation: "x", Life: "x"})
			if code := status.Code(own); code != codes.PermissionDenied {
				t.Errorf("%s ended the lease of n1: %v", c.name, own)
			}
			_, change := peers.Change(t.Context(), &peerpb.ChangeRequest{Kind: "transfer", Node: "no-such-node"})
			_, commit := store.Commit(t.Context(), &apipb.CommitRequest{})
			exchange, err := store.Exchange(t.Context())
			if err == nil {
				if err = exchange.CloseSend(); err == nil {
					_, err = exchange.Recv()
				}
			}
			for what, err := range map[string]error{"barrier": barrier, "change": change, "commit": commit, "exchange": err} {
				if code := status.Code(err); !c.want(code) {
					t.Errorf("%s called %s: %v (%v)", c.name, what, code, err)
				}
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
