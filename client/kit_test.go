package client_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/client"
	apipb "dormouse/proto/api"
	grpcfront "dormouse/server/grpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wires is an in-memory network; addresses are names.
type wires struct {
	t         *testing.T
	gate      <-chan struct{} // if set, dials block until it is closed
	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
	servers   map[string]*grpcfront.Server
}

func newWires(t *testing.T) *wires {
	t.Helper()
	return &wires{t: t, listeners: map[string]*bufconn.Listener{}, servers: map[string]*grpcfront.Server{}}
}

func (w *wires) listen(addr string) *bufconn.Listener {
	l := bufconn.Listen(1 << 20)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners[addr] = l
	return l
}

func (w *wires) unlisten(addr string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.listeners, addr)
}

func (w *wires) dial(ctx context.Context, addr string) (net.Conn, error) {
	if w.gate != nil {
		<-w.gate
	}
	w.mu.Lock()
	l := w.listeners[addr]
	w.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	return l.DialContext(ctx)
}

// serve serves a service with the real gRPC server; stop closes its connections.
func (w *wires) serve(addr string, service agent.Submitter, operator layout.Operator) (stop func()) {
	return w.serveWith(addr, service, operator, grpcfront.Options{})
}

func (w *wires) serveWith(addr string, service agent.Submitter, operator layout.Operator, o grpcfront.Options) (stop func()) {
	s := grpcfront.New(service, operator, o)
	l := w.listen(addr)
	w.mu.Lock()
	w.servers[addr] = s
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			w.unlisten(addr)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = s.Shutdown(ctx) // already expired: closes connections at once
			<-done
		})
	}
	w.t.Cleanup(stop)
	return stop
}

// raw serves a Store with the test's own Exchange.
type raw struct {
	apipb.UnimplementedStoreServer
	exchange func(apipb.Store_ExchangeServer) error
}

func (r raw) Exchange(s apipb.Store_ExchangeServer) error { return r.exchange(s) }

func (w *wires) serveRaw(addr string, exchange func(apipb.Store_ExchangeServer) error) {
	s := grpc.NewServer(grpcfront.MessageLimits()...)
	apipb.RegisterStoreServer(s, raw{exchange: exchange})
	l := w.listen(addr)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	w.t.Cleanup(func() {
		s.Stop()
		<-done
	})
}

func (w *wires) client(o client.Options) *client.Client {
	w.t.Helper()
	o.Dialer = w.dial
	c, err := client.Dial(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// fake is a node over a store in memory. It records calls. If it has a function for a
// call, the function answers instead of the store.
type fake struct {
	script []*agent.Error // answers one commit after another; the last one is repeated, nil means the store's
	submit func(context.Context, agent.Commit, func(agent.Result, error))
	read   func(context.Context, agent.Reads) (agent.Answers, error)
	watch  func(context.Context, agent.Watch) iter.Seq2[agent.Event, error]
	change func(context.Context, layout.Change, string) (string, error)
	status func() (layout.ClusterStatus, error)
	export func(write func(agent.ScopePart) error) error

	mu      sync.Mutex
	memory  *memstore.Store
	commits []agent.Commit
	reads   []agent.Reads
}

func (f *fake) store() *memstore.Store {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.memory == nil {
		f.memory = memstore.New()
	}
	return f.memory
}

func (f *fake) Submit(ctx context.Context, c agent.Commit, done func(agent.Result, error)) {
	f.mu.Lock()
	f.commits = append(f.commits, c)
	var refusal *agent.Error
	if n := len(f.script); n > 0 {
		refusal = f.script[min(len(f.commits), n)-1]
	}
	f.mu.Unlock()
	switch {
	case refusal != nil:
		done(agent.Result{}, refusal)
	case f.submit != nil:
		f.submit(ctx, c, done)
	default:
		f.store().Submit(ctx, c, done)
	}
}

func (f *fake) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return agent.Await(ctx, f, c)
}

func (f *fake) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	f.mu.Lock()
	f.reads = append(f.reads, r)
	f.mu.Unlock()
	if f.read == nil {
		return f.store().Read(ctx, r)
	}
	return f.read(ctx, r)
}

func (f *fake) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	if f.watch == nil {
		return f.store().Watch(ctx, w)
	}
	return f.watch(ctx, w)
}

func (f *fake) Status(context.Context) (layout.ClusterStatus, error) {
	if f.status == nil {
		return layout.ClusterStatus{ClusterID: "c"}, nil
	}
	return f.status()
}

func (f *fake) Change(ctx context.Context, c layout.Change, node string) (string, error) {
	return f.change(ctx, c, node)
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

func (f *fake) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write(make([]byte, 1<<20))
	return err
}

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

func (f *fake) ExportScope(_ context.Context, scope string, write func(agent.ScopePart) error) error {
	if f.export != nil {
		return f.export(write)
	}
	if err := write(agent.ScopePart{Header: &agent.ScopeHeader{ClusterID: "c", Scope: agent.Scope{Name: scope}, Index: 7, Minted: 8}}); err != nil {
		return err
	}
	return write(agent.ScopePart{Rows: agent.AppendScopeRow(nil, agent.ScopeRow{Key: []byte("k"), Value: []byte("v")})})
}

func (f *fake) seen() []agent.Commit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]agent.Commit(nil), f.commits...)
}

// fine is a result of a put.
func fine(c agent.Commit) agent.Result {
	return agent.Result{Index: c.Request.Seq, Results: []agent.OpResult{&agent.ValueResult{Key: "k", Revision: 1}}}
}

func put(key string) agent.Commit {
	return agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: key, Bytes: []byte("v")}}}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func (*fake) JoinToken(_ context.Context, ttl time.Duration) (layout.JoinToken, error) {
	return layout.JoinToken{Secret: "dormjoin_for_" + ttl.String(), ExpiresAt: 17}, nil
}

func (f *fake) Placement(_ context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := q.Validate(); err != nil {
		return layout.Placement{}, err
	}
	return layout.Placement{Index: 7, Partition: &layout.Partition{ID: 42, Owner: "n1", Epoch: 9, State: layout.PartitionOwned, Why: q.Key}}, nil
}
