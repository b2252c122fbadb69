package grpc_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a scripted service and operator.
type fake struct {
	submit func(context.Context, agent.Commit, func(agent.Result, error))
	read   func(context.Context, agent.Reads) (agent.Answers, error)
	watch  iter.Seq2[agent.Event, error]
	backup func(io.Writer) error

	members []layout.MemberStatus

	mu      sync.Mutex
	commits []agent.Commit
}

func (f *fake) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	f.mu.Lock()
	f.commits = append(f.commits, c)
	f.mu.Unlock()
	f.submit(ctx, c, done)
}

func (f *fake) begun() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.commits)
}

func (f *fake) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, f, c)
}

func (f *fake) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) { return f.read(ctx, r) }

func (f *fake) Watch(context.Context, agent.Watch) iter.Seq2[agent.Event, error] { return f.watch }

func (f *fake) Status(context.Context) (layout.ClusterStatus, error) {
	return layout.ClusterStatus{Node: "n1", Leader: "n1", Members: f.members}, nil
}

func (f *fake) Change(_ context.Context, c layout.Change, node string) (string, error) {
	if node == "" {
		return "", agent.Invalid("node", "which?")
	}
	return string(c) + "," + node, nil
}

// PinPartition implements layout.Operator.
func (f *fake) PinPartition(_ context.Context, partition int, node string) error {
	if node == "unknown" {
		return layout.UnknownMember(node)
	}
	if partition < 0 || partition >= layout.Partitions {
		return layout.InvalidPartition(partition)
	}
	return nil
}

func (f *fake) Backup(_ context.Context, w io.Writer) error { return f.backup(w) }

func (*fake) Backups(context.Context) (layout.Backups, error) {
	return layout.Backups{
		Status:   layout.BackupStatus{URL: "file:///backups", Node: "n1", PublicKey: "dormpub_x", ShipsLog: true, LastName: "b1", LastIndex: 7, LastSuccessAt: 1_700_000_000_000, ShippedTo: 9, ShippedTime: 1_700_000_001_000, Next: 1_700_086_400_000},
		Backups:  []layout.BackupInfo{{Name: "b1", Node: "n1", Index: 7, Term: 2, Time: 1_700_000_000_000, StartedAt: 1_700_000_000_000, VerifiedAt: 1_700_000_000_500, StateBytes: 4096, Bytes: 4200, Encrypted: true, StateHash: "abc", Key: "dormpub_x"}},
		Segments: 3, StoredBytes: 12345,
	}, nil
}

func (*fake) TakeBackup(_ context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if progress != nil {
		progress(layout.BackupProgress{Phase: layout.BackupWrites, Done: 1, Total: 2})
	}
	return layout.BackupInfo{Name: "b2", Node: "n1", Index: 9, Bytes: 4300, StateHash: "abd"}, nil
}

func (*fake) ExportScope(_ context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := write(agent.ScopePart{Header: &agent.ScopeHeader{ClusterID: "c", Scope: agent.Scope{Name: scope}, Index: 7, Minted: 8}}); err != nil {
		return err
	}
	return write(agent.ScopePart{Rows: agent.AppendScopeRow(nil, agent.ScopeRow{Key: []byte("k"), Value: []byte("v")})})
}

// serve runs a server and returns a connection to it.
func serve(t *testing.T, f *fake, o grpc.Options) (*grpc.Server, *rpc.ClientConn) {
	t.Helper()
	s := grpc.New(f, f, o)
	return s, serveOn(t, s)
}

// serveOn runs a server and returns a connection to it.
func serveOn(t *testing.T, s *grpc.Server) *rpc.ClientConn {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conn := dial(t, l)
	t.Cleanup(func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return conn
}

func dial(t *testing.T, l *bufconn.Listener) *rpc.ClientConn {
	t.Helper()
	conn, err := rpc.NewClient("passthrough:///test",
		rpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }),
		rpc.WithTransportCredentials(insecure.NewCredentials()),
		rpc.WithDefaultCallOptions(rpc.MaxCallRecvMsgSize(convert.ReplyMessageBytesMax), rpc.MaxCallSendMsgSize(convert.RequestMessageBytesMax)))
	if err != nil {
		t.Fatal(err)
	}
	listeners.Store(conn, l)
	t.Cleanup(func() { listeners.Delete(conn) })
	return conn
}

// listeners are those behind the connections of dial: *rpc.ClientConn → *bufconn.Listener.
var listeners sync.Map

func listenerOf(conn *rpc.ClientConn) *bufconn.Listener {
	l, _ := listeners.Load(conn)
	return l.(*bufconn.Listener) //nolint:forcetypeassert // see dial
}

// opener opens an Exchange stream to the server behind a connection of dial, with metadata in pairs.
type opener func(t *testing.T, conn *rpc.ClientConn, pairs ...string) apipb.Store_ExchangeClient

// onBoth runs a test in virtual time over gRPC and over frames.
func onBoth(t *testing.T, test func(t *testing.T, exchange opener)) {
	t.Helper()
	for name, open := range map[string]opener{"gRPC": exchange, "frames": framedExchange} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, open) })
		})
	}
}

func framedExchange(t *testing.T, conn *rpc.ClientConn, pairs ...string) apipb.Store_ExchangeClient {
	t.Helper()
	return framesWith(t, conn, metadata.Pairs(pairs...))
}

// framesWith opens an Exchange stream over frames with metadata.
func framesWith(t *testing.T, conn *rpc.ClientConn, md metadata.MD) apipb.Store_ExchangeClient {
	t.Helper()
	raw, err := listenerOf(conn).DialContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := framed.Open(t.Context(), raw, framed.ClientOptions{
		Method: apipb.Store_Exchange_FullMethodName, Metadata: md, MessageMax: convert.ReplyMessageBytesMax,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &rpc.GenericClientStream[apipb.Calls, apipb.Replies]{ClientStream: s}
}

func exchange(t *testing.T, conn *rpc.ClientConn, pairs ...string) apipb.Store_ExchangeClient {
	t.Helper()
	s, err := apipb.NewStoreClient(conn).Exchange(metadata.AppendToOutgoingContext(t.Context(), pairs...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// commit returns a call with one put.
func commit(id uint64, timeout time.Duration) *apipb.Call {
	c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}
	return &apipb.Call{Id: id, Call: &apipb.Call_Commit{Commit: convert.CommitToProto(&c)}, TimeoutMs: uint64(timeout.Milliseconds())}
}

func read(id uint64, r agent.Read) *apipb.Call {
	return &apipb.Call{Id: id, Call: &apipb.Call_Read{Read: convert.ReadsToProto(&agent.Reads{Reads: []agent.Read{r}})}}
}

func send(t *testing.T, s apipb.Store_ExchangeClient, calls ...*apipb.Call) {
	t.Helper()
	if err := s.Send(&apipb.Calls{Calls: calls}); err != nil {
		t.Fatal(err)
	}
}

// replies reads n replies, and returns them by id.
func replies(t *testing.T, s apipb.Store_ExchangeClient, n int) map[uint64]*apipb.Reply {
	t.Helper()
	got := map[uint64]*apipb.Reply{}
	for len(got) < n {
		frame, err := s.Recv()
		if errors.Is(err, io.EOF) || err != nil {
			t.Fatalf("after %d replies: %v", len(got), err)
		}
		if len(frame.Replies) > convert.FrameCallsMax {
			t.Errorf("a frame of %d replies", len(frame.Replies))
		}
		for _, r := range frame.Replies {
			if got[r.Id] != nil {
				t.Errorf("call %d was answered twice", r.Id)
			}
			got[r.Id] = r
		}
	}
	return got
}

func fine(index uint64) agent.Result {
	return agent.Result{Index: index, Results: []agent.OpResult{&agent.ValueResult{Key: "k", Revision: index}}}
}

func atOnce(_ context.Context, _ agent.Commit, done func(agent.Result, error)) { done(fine(1), nil) }

func (*fake) JoinToken(_ context.Context, ttl time.Duration) (layout.JoinToken, error) {
	return layout.JoinToken{Secret: "dormjoin_for_" + ttl.String(), ExpiresAt: 17}, nil
}

func (f *fake) Placement(_ context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := q.Validate(); err != nil {
		return layout.Placement{}, err
	}
	return layout.Placement{Index: 7, Partition: &layout.Partition{ID: 42, Owner: "n1", Epoch: 9, State: layout.PartitionOwned, Why: q.Key}}, nil
}
