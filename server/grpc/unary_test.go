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
	"google.golang.org/grpc/status"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/proto/wire"
	"dormouse/server/grpc"
)

// all are the codes of API.md that are ours, with the status of each.
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
			_, err := apipb.NewValuesClient(conn).Put(t.Context(), &apipb.PutValueRequest{Put: &apipb.PutValue{Key: "k"}})
			s := status.Convert(err)
			if s.Code() != want || len(s.Details()) != 1 {
				t.Errorf("%s: %v with %d details, want %v", c, s.Code(), len(s.Details()), want)
				continue
			}
			if got := wire.ErrorFromProto(s.Details()[0].(*apipb.Error)); *got != *refusal {
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

func detail(err error) *apipb.Error {
	for _, d := range status.Convert(err).Details() {
		if e, ok := d.(*apipb.Error); ok {
			return e
		}
	}
	return nil
}

// results answers each op with what it should.
func results(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
	r := agent.Result{Index: 5}
	for _, op := range c.Ops {
		switch op := op.(type) {
		case *agent.PutValue:
			r.Results = append(r.Results, &agent.ValueResult{Key: op.Key})
		case *agent.PutCheckpoint:
			r.Results = append(r.Results, &agent.CheckpointResult{Key: op.Key, Thread: op.Thread})
		case *agent.PatchCheckpoint:
			r.Results = append(r.Results, &agent.CheckpointResult{Key: op.Key})
		case *agent.AppendThread, *agent.CompactThread, *agent.ForkThread, *agent.HibernateThread:
			r.Results = append(r.Results, &agent.ThreadResult{Thread: agent.Thread{ID: "t"}})
		case *agent.TakeClaim, *agent.RenewClaim, *agent.ReleaseClaim:
			r.Results = append(r.Results, &agent.ClaimResult{Claim: agent.Claim{Name: "c", Epoch: 7}})
		case *agent.PutSession, *agent.ClaimSession, *agent.ResumeSession, *agent.RecoverSession, *agent.CheckpointSession,
			*agent.CommitSession, *agent.RenewSession, *agent.CancelSession, *agent.ForkSession:
			r.Results = append(r.Results, &agent.SessionResult{Session: agent.SessionRow{ID: "s", Revision: 4}})
		case *agent.DecideReview:
			r.Results = append(r.Results, &agent.ReviewResult{Review: agent.Review{ID: op.Review, Status: agent.ReviewApproved}})
		case *agent.PutTimer:
			r.Results = append(r.Results, &agent.TimerResult{Timer: op.Timer})
		case *agent.WriteMemory:
			r.Results = append(r.Results, &agent.MemoryResult{Agent: "a", ID: "m"})
		case *agent.PutScope:
			r.Results = append(r.Results, &agent.ScopeResult{Scope: agent.Scope{Name: c.Scope}})
		default:
			r.Results = append(r.Results, &agent.DeleteResult{Existed: true})
		}
	}
	done(r, nil)
}

func answers(_ context.Context, r agent.Reads) (agent.Answers, error) {
	var f agent.Found
	switch r.Reads[0].(type) {
	case *agent.GetValue:
		f = &agent.Value{}
	case *agent.ListValues:
		f = &agent.ValueList{}
	case *agent.GetCheckpoint:
		f = &agent.Checkpoint{}
	case *agent.ListCheckpoints, *agent.CheckpointHistory:
		f = &agent.CheckpointList{}
	case *agent.GetThread:
		f = &agent.Thread{}
	case *agent.ListThreads:
		f = &agent.ThreadList{}
	case *agent.LoadEntries:
		f = &agent.Entries{}
	case *agent.GetEntry:
		f = &agent.Entry{}
	case *agent.VerifyThread:
		f = &agent.Verified{}
	case *agent.Thaw:
		f = &agent.Thawed{}
	case *agent.ListScopes:
		f = &agent.ScopeList{}
	case *agent.GetClaim:
		f = &agent.Claim{}
	case *agent.ListClaims:
		f = &agent.ClaimList{}
	case *agent.GetSession:
		f = &agent.Session{}
	case *agent.ListSessions:
		f = &agent.SessionList{}
	case *agent.GetReview:
		f = &agent.Review{}
	case *agent.ListReviews:
		f = &agent.ReviewList{}
	case *agent.GetMemory:
		f = &agent.Memory{}
	case *agent.ListMemories:
		f = &agent.MemoryList{}
	case *agent.Recall:
		f = &agent.Recalled{}
	case *agent.GetTimer:
		f = &agent.Timer{}
	case *agent.ListTimers:
		f = &agent.TimerList{}
	}
	return agent.Answers{Answers: []agent.Answer{{Found: f}}}, nil
}

func TestEveryTypedCallIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{submit: results, read: answers}, grpc.Options{})
		cps, ths, vals := apipb.NewCheckpointsClient(conn), apipb.NewThreadsClient(conn), apipb.NewValuesClient(conn)
		cls, mems, tms := apipb.NewClaimsClient(conn), apipb.NewMemoriesClient(conn), apipb.NewTimersClient(conn)
		ags, scs, clu := apipb.NewAgentsClient(conn), apipb.NewScopesClient(conn), apipb.NewClusterClient(conn)
		ctx := t.Context()
		node := &apipb.NodeRequest{Node: "n"}
		calls := map[string]func() (any, error){
			"Checkpoints.Put": func() (any, error) { return cps.Put(ctx, &apipb.PutCheckpointRequest{Put: &apipb.PutCheckpoint{}}) },
			"Checkpoints.Patch": func() (any, error) {
				return cps.Patch(ctx, &apipb.PatchCheckpointRequest{Patch: &apipb.PatchCheckpoint{}})
			},
			"Checkpoints.Delete": func() (any, error) {
				return cps.Delete(ctx, &apipb.DeleteCheckpointRequest{Delete: &apipb.DeleteCheckpoint{}})
			},
			"Checkpoints.Get":     func() (any, error) { return cps.Get(ctx, &apipb.GetCheckpointRequest{}) },
			"Checkpoints.List":    func() (any, error) { return cps.List(ctx, &apipb.ListRequest{}) },
			"Checkpoints.History": func() (any, error) { return cps.History(ctx, &apipb.CheckpointHistoryRequest{}) },
			"Threads.Append":      func() (any, error) { return ths.Append(ctx, &apipb.AppendThreadRequest{Append: &apipb.AppendThread{}}) },
			"Threads.Delete":      func() (any, error) { return ths.Delete(ctx, &apipb.DeleteThreadRequest{Delete: &apipb.DeleteThread{}}) },
			"Threads.Compact": func() (any, error) {
				return ths.Compact(ctx, &apipb.CompactThreadRequest{Compact: &apipb.CompactThread{}})
			},
			"Threads.Fork":     func() (any, error) { return ths.Fork(ctx, &apipb.ForkThreadRequest{Fork: &apipb.ForkThread{}}) },
			"Threads.Get":      func() (any, error) { return ths.Get(ctx, &apipb.GetThreadRequest{}) },
			"Threads.Load":     func() (any, error) { return ths.Load(ctx, &apipb.LoadEntriesRequest{}) },
			"Threads.GetEntry": func() (any, error) { return ths.GetEntry(ctx, &apipb.GetEntryRequest{}) },
			"Threads.Verify":   func() (any, error) { return ths.Verify(ctx, &apipb.VerifyThreadRequest{}) },
			"Threads.List":     func() (any, error) { return ths.List(ctx, &apipb.ListRequest{}) },
			"Values.Put":       func() (any, error) { return vals.Put(ctx, &apipb.PutValueRequest{Put: &apipb.PutValue{}}) },
			"Values.Delete":    func() (any, error) { return vals.Delete(ctx, &apipb.DeleteValueRequest{Delete: &apipb.DeleteValue{}}) },
			"Values.Get":       func() (any, error) { return vals.Get(ctx, &apipb.GetValueRequest{}) },
			"Values.List":      func() (any, error) { return vals.List(ctx, &apipb.ListRequest{}) },
			"Claims.Take":      func() (any, error) { return cls.Take(ctx, &apipb.TakeClaimRequest{Take: &apipb.TakeClaim{}}) },
			"Claims.Renew":     func() (any, error) { return cls.Renew(ctx, &apipb.RenewClaimRequest{Renew: &apipb.RenewClaim{}}) },
			"Claims.Release": func() (any, error) {
				return cls.Release(ctx, &apipb.ReleaseClaimRequest{Release: &apipb.ReleaseClaim{}})
			},
			"Memories.Write": func() (any, error) { return mems.Write(ctx, &apipb.WriteMemoryRequest{Write: &apipb.WriteMemory{}}) },
			"Memories.Delete": func() (any, error) {
				return mems.Delete(ctx, &apipb.DeleteMemoryRequest{Delete: &apipb.DeleteMemory{}})
			},
			"Memories.Get":     func() (any, error) { return mems.Get(ctx, &apipb.GetMemoryRequest{}) },
			"Memories.List":    func() (any, error) { return mems.List(ctx, &apipb.ListMemoriesRequest{}) },
			"Memories.Recall":  func() (any, error) { return mems.Recall(ctx, &apipb.RecallRequest{}) },
			"Timers.Put":       func() (any, error) { return tms.Put(ctx, &apipb.PutTimerRequest{Put: &apipb.PutTimer{}}) },
			"Timers.Delete":    func() (any, error) { return tms.Delete(ctx, &apipb.DeleteTimerRequest{Delete: &apipb.DeleteTimer{}}) },
			"Timers.Get":       func() (any, error) { return tms.Get(ctx, &apipb.GetTimerRequest{}) },
			"Timers.List":      func() (any, error) { return tms.List(ctx, &apipb.ListTimersRequest{}) },
			"Claims.Get":       func() (any, error) { return cls.Get(ctx, &apipb.GetClaimRequest{}) },
			"Claims.List":      func() (any, error) { return cls.List(ctx, &apipb.ListRequest{}) },
			"Agents.Thaw":      func() (any, error) { return ags.Thaw(ctx, &apipb.ThawRequest{}) },
			"Scopes.Put":       func() (any, error) { return scs.Put(ctx, &apipb.PutScopeRequest{Put: &apipb.PutScope{}}) },
			"Scopes.Delete":    func() (any, error) { return scs.Delete(ctx, &apipb.DeleteScopeRequest{}) },
			"Scopes.List":      func() (any, error) { return scs.List(ctx, &apipb.ListRequest{}) },
			"Cluster.Status":   func() (any, error) { return clu.Status(ctx, &apipb.StatusRequest{}) },
			"Cluster.Leave":    func() (any, error) { return clu.Leave(ctx, node) },
			"Cluster.Transfer": func() (any, error) { return clu.Transfer(ctx, node) },
			"Cluster.Promote":  func() (any, error) { return clu.Promote(ctx, node) },
			"Cluster.Demote":   func() (any, error) { return clu.Demote(ctx, node) },
		}
		for name, call := range calls {
			if _, err := call(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		res, err := ags.Hibernate(ctx, &apipb.HibernateRequest{
			Thread: &apipb.HibernateThread{Thread: "t", Rev: 4}, Put: &apipb.PutCheckpoint{Key: "k"},
		})
		if err != nil || res.Thread == nil || res.Checkpoint.GetThread().GetRev() != 4 || res.Index != 5 {
			t.Errorf("Agents.Hibernate: %v, %v", res, err)
		}
		if res, err = ags.Hibernate(ctx, &apipb.HibernateRequest{Put: &apipb.PutCheckpoint{Key: "k"}}); err != nil || res.Thread != nil {
			t.Errorf("Agents.Hibernate without a thread: %v, %v", res, err)
		}
		if _, err := vals.Put(ctx, &apipb.PutValueRequest{}); detail(err).GetCode() != string(agent.CodeInvalid) {
			t.Errorf("a put of nothing: %v", err)
		}
	})
}

// A compaction cannot be undone: which seq stays is said, never filled in.
func TestACompactionSaysWhichSeqStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{submit: func(_ context.Context, c agent.Commit, done func(agent.Result, error)) {
			done(agent.Result{}, c.Validate()) // as the service behind does first
		}}, grpc.Options{})
		_, err := apipb.NewThreadsClient(conn).Compact(t.Context(), &apipb.CompactThreadRequest{Compact: &apipb.CompactThread{Thread: "t"}})
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
