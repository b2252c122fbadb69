package grpc_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
	"dormouse/server/grpc"
)

// all are this project's codes, with the gRPC status of each.
var all = map[agent.Code]codes.Code{
	agent.CodeInvalid: codes.InvalidArgument, agent.CodeUnauthenticated: codes.Unauthenticated,
	agent.CodeForbidden: codes.PermissionDenied, agent.CodeNotFound: codes.NotFound,
	agent.CodeIdempotencyMismatch: codes.FailedPrecondition, agent.CodeRequestExpired: codes.FailedPrecondition,
	agent.CodeConflict: codes.Aborted, agent.CodeRevRegression: codes.Aborted, agent.CodeDuplicateEntry: codes.AlreadyExists,
	agent.CodeRevisionMismatch: codes.Aborted, agent.CodeFenced: codes.FailedPrecondition,
	agent.CodeAlreadyClaimed: codes.FailedPrecondition, agent.CodeMissingThread: codes.FailedPrecondition,
	agent.CodeThreadMismatch: codes.FailedPrecondition, agent.CodeAlreadyExists: codes.AlreadyExists,
	agent.CodeDeleted: codes.FailedPrecondition, agent.CodeCompacted: codes.OutOfRange,
	agent.CodeTooLarge: codes.InvalidArgument, agent.CodeOverloaded: codes.ResourceExhausted,
	agent.CodeUnavailable: codes.Unavailable, agent.CodeReadOnly: codes.Unavailable, agent.CodeCorrupt: codes.DataLoss,
	agent.CodeInternal: codes.Internal, agent.CodeUnknown: codes.DeadlineExceeded,
	agent.CodeUnsupportedSchema: codes.InvalidArgument, agent.CodeStaleSessionRevision: codes.Aborted,
	agent.CodeStaleConversationRevision: codes.Aborted, agent.CodeSessionAlreadyRunning: codes.FailedPrecondition,
	agent.CodeStaleSessionLease: codes.FailedPrecondition, agent.CodeReviewDecided: codes.FailedPrecondition,
}

func TestEveryRefusalKeepsItsDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refusal *agent.Error
		f := &fake{submit: func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) { done(agent.Result{}, refusal) }}
		_, conn := serve(t, f, grpc.Options{})
		for c, want := range all {
			refusal = agent.Errorf(c, "because")
			refusal.Op, refusal.Rev, refusal.Final, refusal.State = 3, 9, true, "running"
			_, err := apipb.NewStoreClient(conn).Commit(t.Context(), commit(1, 0).GetCommit())
			s := status.Convert(err)
			if s.Code() != want || len(s.Details()) != 1 {
				t.Errorf("%s: %v with %d details, want %v", c, s.Code(), len(s.Details()), want)
				continue
			}
			if got := ops.ErrorFromProto(s.Details()[0].(*oppb.Error)); *got != *refusal {
				t.Errorf("%s came as %+v", c, got)
			}
		}
	})
}

func TestUnaryCallsTakeTheirDeadlineOrTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			submit: func(context.Context, agent.Commit, func(agent.Result, error)) {},
			read: func(ctx context.Context, _ agent.Reads) (agent.Answers, error) {
				<-ctx.Done()
				return agent.Answers{}, ctx.Err()
			},
		}
		_, conn := serve(t, f, grpc.Options{Timeout: 3 * time.Second})
		began := time.Now()
		_, err := apipb.NewStoreClient(conn).Commit(t.Context(), commit(1, 0).GetCommit())
		if e := detail(err); e.GetCode() != string(agent.CodeUnknown) || time.Since(began) != 3*time.Second {
			t.Errorf("a commit: %v after %v", err, time.Since(began))
		}
		_, err = apipb.NewStoreClient(conn).Read(t.Context(), read(1, &agent.GetScope{}).GetRead())
		if e := detail(err); e.GetCode() != string(agent.CodeUnavailable) {
			t.Errorf("a read: %v", err)
		}
	})
}

func detail(err error) *oppb.Error {
	for _, d := range status.Convert(err).Details() {
		if e, ok := d.(*oppb.Error); ok {
			return e
		}
	}
	return nil
}

func TestTheOperatorsCallsAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{}, grpc.Options{})
		c, ctx, node := apipb.NewClusterClient(conn), t.Context(), &apipb.NodeRequest{Node: "n"}
		for name, call := range map[string]func() (any, error){
			"Status":   func() (any, error) { return c.Status(ctx, &apipb.StatusRequest{}) },
			"Leave":    func() (any, error) { return c.Leave(ctx, node) },
			"Transfer": func() (any, error) { return c.Transfer(ctx, node) },
			"Promote":  func() (any, error) { return c.Promote(ctx, node) },
			"Demote":   func() (any, error) { return c.Demote(ctx, node) },
		} {
			if _, err := call(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A compaction cannot be undone: a request must have a seq.
func TestACompactionSaysWhichSeqStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			done(agent.Result{}, c.Validate()) // as the service does first
		}}, grpc.Options{})
		_, err := apipb.NewStoreClient(conn).Commit(t.Context(), &apipb.CommitRequest{
			Ops: []*oppb.Op{{Op: &oppb.Op_CompactThread{CompactThread: &oppb.CompactThread{Thread: "t"}}}},
		})
		if e := detail(err); e.GetCode() != string(agent.CodeInvalid) || e.GetField() != "before_seq" {
			t.Errorf("without before_seq: %v (%v)", e, err)
		}
	})
}

func TestHealthIsWhatTheNodeSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conn := serve(t, &fake{}, grpc.Options{})
		for _, serving := range []bool{false, true, false} {
			if serving {
				s.SetServing(true)
			} else {
				s.SetServing(false)
			}
			for _, service := range []string{"", "dormouse.api.v1.Store"} {
				res, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
				if err != nil || (res.Status == healthpb.HealthCheckResponse_SERVING) != serving {
					t.Errorf("%q, serving %v: %v, %v", service, serving, res, err)
				}
			}
		}
	})
}

func TestAWatchStreamsAndEnds(t *testing.T) {
	events := func(list ...agent.Event) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: events(agent.Event{Entry: agent.Entry{Seq: 0}}, agent.Event{Kind: agent.EventCompacted, Floor: 3})}
		_, conn := serve(t, f, grpc.Options{})
		var ends error
		count := func() (n int) {
			s, err := apipb.NewStoreClient(conn).Watch(t.Context(), &apipb.WatchRequest{Thread: "t"})
			if err != nil {
				t.Fatal(err)
			}
			for {
				if _, ends = s.Recv(); ends != nil {
					return n
				}
				n++
			}
		}
		if n := count(); n != 2 || !errors.Is(ends, io.EOF) {
			t.Errorf("%d events, then %v", n, ends)
		}
		f.watch = events(agent.Event{Kind: agent.EventClaim}, agent.Event{Kind: agent.EventClaim, Claim: agent.Claim{Name: "c"}})
		if n := count(); n != 2 || status.Code(ends) != codes.Unavailable {
			t.Errorf("a watch of a claim: %d events, then %v", n, ends)
		}
		f.watch = events(agent.Event{})
		if n := count(); n != 1 || status.Code(ends) != codes.Unavailable {
			t.Errorf("a watch that just ends: %d events, then %v", n, ends)
		}
		f.watch = func(yield func(agent.Event, error) bool) { yield(agent.Event{}, agent.ErrNotFound) }
		if n := count(); n != 0 || status.Code(ends) != codes.NotFound {
			t.Errorf("a refused watch: %d events, then %v", n, ends)
		}
	})
}

func TestABackupIsCutIntoChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{backup: func(w io.Writer) error {
			for i := range 3 {
				b := make([]byte, 1<<20+i)
				for j := range b {
					b[j] = byte(i)
				}
				if _, err := w.Write(b); err != nil {
					return err
				}
			}
			return nil
		}}
		_, conn := serve(t, f, grpc.Options{})
		s, err := apipb.NewClusterClient(conn).Backup(t.Context(), &apipb.BackupRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var size, sum int
		for {
			c, err := s.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Data) > 1<<20 {
				t.Errorf("a chunk of %d", len(c.Data))
			}
			size += len(c.Data)
			for _, b := range c.Data {
				sum += int(b)
			}
		}
		if size != 3<<20+3 || sum != (1<<20+1)+2*(1<<20+2) {
			t.Errorf("%d bytes with sum %d", size, sum)
		}
		f.backup = func(io.Writer) error { return agent.ErrUnavailable }
		s, _ = apipb.NewClusterClient(conn).Backup(t.Context(), &apipb.BackupRequest{})
		if _, err := s.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("a refused backup: %v", err)
		}
	})
}

// A watch that ends gives its place back.
func TestWatchesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: func(yield func(agent.Event, error) bool) { yield(agent.Event{Kind: agent.EventDeleted}, nil) }}
		_, conn := serve(t, f, grpc.Options{WatchesMax: 1})
		for range 3 {
			w, err := apipb.NewStoreClient(conn).Watch(t.Context(), &apipb.WatchRequest{Thread: "t"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Recv(); err != nil {
				t.Error(err)
			}
			if _, err := w.Recv(); err == nil {
				t.Error("the watch goes on")
			}
			synctest.Wait()
		}
	})
}

// Watches of the health need no token, so they take no places of other watches, and have a limit of their own.
func TestHealthWatchesTakeNoPlacesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{watch: func(yield func(agent.Event, error) bool) { yield(agent.Event{Kind: agent.EventDeleted}, nil) }}
		_, conn := serve(t, f, grpc.Options{WatchesMax: 2})
		const places = 512 // of one address: half of all
		for n := range places + 1 {
			h, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Recv(); (err == nil) != (n < places) {
				t.Errorf("watch %d of the health: %v", n, err)
			}
		}
		w, err := apipb.NewStoreClient(conn).Watch(t.Context(), &apipb.WatchRequest{Thread: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Recv(); err != nil {
			t.Errorf("another watch: %v", err)
		}
	})
}

// A node that belongs to no cluster yet refuses calls for one: it could be founding another.
func TestANodeWithoutAClusterRefusesCallsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := ""
		f := &fake{submit: atOnce}
		_, conn := serve(t, f, grpc.Options{ClusterID: func() string { return mine }})
		call := func() error {
			ctx := metadata.AppendToOutgoingContext(t.Context(), convert.ClusterHeader, "c1")
			_, err := apipb.NewStoreClient(conn).Commit(ctx, commit(1, 0).GetCommit())
			return err
		}
		for _, id := range []string{"", "c2", "c1"} {
			mine = id
			if err := call(); status.Code(err) != codes.Unavailable && id != "c1" || err != nil && id == "c1" {
				t.Errorf("a call for c1 at a node of %q: %v", id, err)
			}
		}
		if n := f.begun(); n != 1 {
			t.Errorf("%d commits were made", n)
		}
	})
}
