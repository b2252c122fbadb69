package grpc_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
	"dormouse/server/grpc"
)

// hold keeps commits until the test answers them.
type hold struct{ held []func(agent.Result, error) }

func (h *hold) submit(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
	h.held = append(h.held, done)
}

func TestCommitsAreAnsweredInAnyOrderByID(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h := &hold{}
		_, conn := serve(t, &fake{submit: h.submit}, grpc.Options{})
		s := exchange(t, conn)
		for id := uint64(1); id <= 300; id++ {
			send(t, s, commit(id, 0))
		}
		synctest.Wait()
		for i := len(h.held) - 1; i >= 0; i-- {
			h.held[i](fine(uint64(i+1)), nil)
		}
		for id, r := range replies(t, s, 300) {
			if r.GetCommit().GetIndex() != id {
				t.Errorf("call %d: %v", id, r)
			}
		}
	})
}

// A full stream is not read; answered calls make room.
func TestAFullStreamIsNotRead(t *testing.T) {
	for name, o := range map[string]grpc.Options{
		"calls": {InFlightMax: 4},
		"bytes": {InFlightBytesMax: 4 * 16},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
				h := &hold{}
				f := &fake{submit: h.submit}
				_, conn := serve(t, f, o)
				s := exchange(t, conn)
				var calls []*apipb.Call
				for id := uint64(1); id <= 10; id++ {
					calls = append(calls, commit(id, time.Minute))
				}
				send(t, s, calls...)
				synctest.Wait()
				first := f.begun()
				if first > 4 || first == 0 {
					t.Fatalf("%d were begun", first)
				}
				h.held[0](fine(1), nil)
				replies(t, s, 1)
				synctest.Wait()
				if n := f.begun(); n != first+1 {
					t.Errorf("one was answered, %d were begun after %d", n, first)
				}
				for i := 1; i < 10; i++ {
					h.held[i](fine(1), nil)
					synctest.Wait()
				}
				replies(t, s, 9)
			})
		})
	}
}

// Unread answers keep their room, so the same limit applies.
func TestACallerThatReadsNoAnswersIsNotServedOn(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		var n atomic.Int64
		f := &fake{read: func(context.Context, agent.Reads) (agent.Answers, error) {
			n.Add(1)
			return agent.Answers{Answers: []agent.Answer{{Found: &agent.Value{Bytes: make([]byte, 1<<20)}}}}, nil
		}}
		_, conn := serve(t, f, grpc.Options{InFlightMax: 8})
		s := exchange(t, conn)
		for id := uint64(1); id <= 32; id++ {
			send(t, s, read(id, &agent.GetValue{Key: "k"}))
		}
		synctest.Wait()
		if n := n.Load(); n > 12 { // those in flight and those in the windows of the connection
			t.Errorf("%d reads were served to a caller that takes no answer", n)
		}
		replies(t, s, 32)
	})
}

func TestACommitThatRunsOutOfTimeIsUnknownAndItsRoomIsFree(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h := &hold{}
		f := &fake{submit: h.submit}
		_, conn := serve(t, f, grpc.Options{InFlightMax: 1})
		s := exchange(t, conn)
		began := time.Now()
		send(t, s, commit(1, 2*time.Second), commit(2, 0))
		if e := replies(t, s, 1)[1].GetError(); e.GetCode() != string(agent.CodeUnknown) {
			t.Errorf("got %v", e)
		}
		if took := time.Since(began); took < 2*time.Second || took > 2100*time.Millisecond {
			t.Errorf("after %v", took)
		}
		synctest.Wait()
		h.held[0](fine(1), nil) // too late: it has been answered
		if e := replies(t, s, 1)[2].GetError(); e.GetCode() != string(agent.CodeUnknown) {
			t.Errorf("got %v", e)
		}
		if took := time.Since(began); took < 12*time.Second || took > 12200*time.Millisecond {
			t.Errorf("the default took %v", took)
		}
	})
}

func TestAReadThatRunsOutOfTimeIsUnavailable(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		f := &fake{read: func(ctx context.Context, _ agent.Reads) (agent.Answers, error) {
			<-ctx.Done()
			return agent.Answers{}, ctx.Err()
		}}
		_, conn := serve(t, f, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, read(1, &agent.GetScope{}))
		if e := replies(t, s, 1)[1].GetError(); e.GetCode() != string(agent.CodeUnavailable) {
			t.Errorf("got %v", e)
		}
	})
}

func TestMalformedCallsAreRefusedOneByOne(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		_, conn := serve(t, &fake{submit: atOnce}, grpc.Options{})
		s := exchange(t, conn)
		send(t, s,
			&apipb.Call{Id: 1},
			&apipb.Call{Id: 2, Call: &apipb.Call_Commit{Commit: &apipb.CommitRequest{Ops: []*oppb.Op{{}}}}},
			&apipb.Call{Id: 3, Call: &apipb.Call_Read{Read: &apipb.ReadRequest{Reads: []*apipb.Read{{}}}}},
			commit(4, 0))
		got := replies(t, s, 4)
		for id := uint64(1); id <= 3; id++ {
			if e := got[id].GetError(); e.GetCode() != string(agent.CodeInvalid) {
				t.Errorf("call %d: %v", id, got[id])
			}
		}
		if got[2].GetError().GetOp() != 0 || got[4].GetCommit() == nil {
			t.Errorf("got %v", got)
		}
	})
}

func TestAnAnswerThatFitsNoMessageIsTooLarge(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		f := &fake{read: func(context.Context, agent.Reads) (agent.Answers, error) {
			return agent.Answers{Answers: []agent.Answer{{Found: &agent.Value{Bytes: make([]byte, convert.ReplyBytesMax)}}}}, nil
		}}
		_, conn := serve(t, f, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, read(1, &agent.GetScope{}))
		if e := replies(t, s, 1)[1].GetError(); e.GetCode() != string(agent.CodeTooLarge) || e.GetLimit() == "" {
			t.Errorf("got %v", e)
		}
		// A commit has been applied: its caller must not take it for refused.
		f.submit = func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
			result := &agent.ThreadResult{Thread: agent.Thread{Metadata: make(agent.JSON, convert.ReplyBytesMax)}}
			done(agent.Result{Results: []agent.OpResult{result}}, nil)
		}
		send(t, s, commit(2, 0))
		e := replies(t, s, 1)[2].GetError()
		if got := agent.OutcomeOf(agent.Errorf(agent.Code(e.GetCode()), "")); got != agent.Undecided {
			t.Errorf("a commit: %v, of outcome %v", e, got)
		}
	})
}

func TestAPanicIsAnInternalErrorOfItsCallAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		f := &fake{
			submit: atOnce,
			read:   func(context.Context, agent.Reads) (agent.Answers, error) { panic("a bug") },
		}
		_, conn := serve(t, f, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, read(1, &agent.GetScope{}), commit(2, 0))
		got := replies(t, s, 2)
		if got[1].GetError().GetCode() != string(agent.CodeInternal) || got[2].GetCommit() == nil {
			t.Errorf("got %v", got)
		}
		f.submit = func(_ context.Context, _ agent.Commit, done func(agent.Result, error)) {
			done(agent.Result{Results: []agent.OpResult{nil}}, nil) // has no wire format
		}
		send(t, s, commit(4, 0))
		if r := replies(t, s, 1)[4]; r.GetError().GetCode() != string(agent.CodeInternal) {
			t.Errorf("a result that cannot be sent: %v", r)
		}
		_, err := apipb.NewStoreClient(conn).Commit(t.Context(), commit(4, 0).GetCommit())
		if status.Code(err) != codes.Internal {
			t.Errorf("a unary call: %v", err)
		}
		f.submit = func(context.Context, agent.Commit, func(agent.Result, error)) { panic("a bug") }
		send(t, s, commit(3, 0))
		if _, err := s.Recv(); status.Code(err) != codes.Internal {
			t.Errorf("a panic in Submit: %v", err)
		}
	})
}

func TestAClosedStreamIsAnsweredToTheEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h := &hold{}
		_, conn := serve(t, &fake{submit: h.submit}, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, commit(1, 0))
		if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.held[0](fine(1), nil)
		replies(t, s, 1)
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("then %v", err)
		}
	})
}

// Shutdown: calls in flight are answered, the stream ends with unavailable, and Shutdown does not
// wait for calls that do not end.
func TestShutdownAnswersWhatIsInFlight(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h := &hold{}
		server, conn := serve(t, &fake{submit: h.submit}, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, commit(1, 0))
		synctest.Wait()
		time.AfterFunc(2*time.Second, func() { h.held[0](fine(1), nil) })
		began := time.Now()
		stopped := make(chan error, 1)
		go func() { stopped <- server.Shutdown(context.Background()) }()
		synctest.Wait()
		send(t, s, commit(2, 0))
		got := replies(t, s, 2)
		if got[1].GetCommit() == nil || got[2].GetError().GetCode() != string(agent.CodeUnavailable) {
			t.Errorf("got %v", got)
		}
		if _, err := s.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("then %v", err)
		}
		if err := <-stopped; err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("stopped with %v after %v", err, time.Since(began))
		}
	})
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		h := &hold{}
		server, conn := serve(t, &fake{submit: h.submit}, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, commit(1, 0))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Recv(); err == nil {
			t.Error("the stream goes on")
		}
	})
}

// Peers have validated what they forward, and only the Store service trusts them.
func TestPeersCommitsAreTrusted(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		f := &fake{submit: atOnce}
		store := grpc.NewPeerStore(f)
		s := rpc.NewServer(append(grpc.MessageLimits(), rpc.Creds(store.Port(insecure.NewCredentials(), nil)))...)
		store.Register(s)
		l := bufconn.Listen(1 << 20)
		done := make(chan error, 1)
		go func() { done <- s.Serve(l) }()
		conn := dial(t, l)
		t.Cleanup(func() {
			_ = conn.Close()
			s.Stop()
			store.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		bad := commit(1, 0)
		bad.GetCommit().Ops = nil // Validate would refuse it
		x := exchange(t, conn)
		send(t, x, bad)
		replies(t, x, 1)
		if err := f.commits[0].Validate(); err != nil {
			t.Errorf("the commit is not trusted: %v", err)
		}
		if _, err := apipb.NewClusterClient(conn).Status(t.Context(), &apipb.StatusRequest{}); status.Code(err) != codes.Unimplemented {
			t.Errorf("the cluster service for peers: %v", err)
		}
	})
}
