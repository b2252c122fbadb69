package grpc_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/server/grpc"
)

// An idle node pings the leader every 10 s. By default gRPC's servers close connections that ping
// so often, and with them the commits in flight.
func TestAPeerThatAsksWhetherTheLeaderIsThereIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rpc.NewServer(grpc.MessageLimits()...)
		grpc.NewPeerStore(&fake{submit: atOnce}).Register(s)
		l := bufconn.Listen(1 << 20)
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		conn, err := rpc.NewClient("passthrough:///test",
			rpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
			rpc.WithTransportCredentials(insecure.NewCredentials()),
			rpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = conn.Close()
			s.Stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		x := exchange(t, conn)
		for id := range uint64(3) {
			send(t, x, commit(id+1, 0))
			replies(t, x, 1)
			time.Sleep(4 * time.Minute)
		}
	})
}
