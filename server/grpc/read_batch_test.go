package grpc_test

import (
	"context"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// bookkeeper answers reads, and records which were sent together.
type bookkeeper struct {
	mu    sync.Mutex
	asked []agent.Reads
}

func (b *bookkeeper) read(_ context.Context, r agent.Reads) (agent.Answers, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r)
	answers := agent.Answers{Index: 7, Node: "n1"}
	for i, q := range r.Reads {
		if get, ok := q.(*agent.GetValue); ok && get.Key != "none" {
			answers.Answers = append(answers.Answers, agent.Answer{Found: &agent.Value{Key: get.Key}})
			continue
		}
		answers.Answers = append(answers.Answers, agent.Answer{Err: &agent.Error{Code: agent.CodeNotFound, Op: i}})
	}
	return answers, nil
}

func TestReadsOfOneFrameAreAnsweredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bookkeeper{}
		_, conn := serve(t, &fake{read: b.read, submit: atOnce}, grpc.Options{})
		s := exchange(t, conn)
		elsewhere := read(4, &agent.GetValue{Key: "d"})
		elsewhere.GetRead().Scope = "other"
		send(t, s,
			read(1, &agent.GetValue{Key: "a"}), read(2, &agent.GetValue{Key: ""}), commit(9, time.Minute), read(3, &agent.GetValue{Key: "none"}),
			elsewhere, read(5, &agent.ListValues{}), read(6, &agent.GetValue{Key: "f"}),
		)
		got := replies(t, s, 7)
		for id, key := range map[uint64]string{1: "a", 4: "d", 6: "f"} {
			if r := got[id].GetRead(); len(r.GetAnswers()) != 1 || r.Answers[0].GetValue().GetKey() != key || r.Index != 7 {
				t.Errorf("read %d got %v", id, got[id])
			}
		}
		if e := got[2].GetError(); e.GetCode() != string(agent.CodeInvalid) {
			t.Errorf("one that is invalid got %v", got[2])
		}
		if e := got[3].GetRead().GetAnswers()[0].GetError(); e.GetCode() != string(agent.CodeNotFound) || e.GetOp() != 0 {
			t.Errorf("an error names a read that is not its call's: %v", got[3])
		}
		sizes := map[int]int{}
		for _, r := range b.asked {
			sizes[len(r.Reads)]++
		}
		// a and none; the other scope; the list alone; the last.
		if len(b.asked) != 4 || sizes[2] != 1 || sizes[1] != 3 {
			t.Errorf("asked %+v", b.asked)
		}
	})
}

// Many reads at once leave few idle goroutines behind, which answer later reads, and end with the
// stream: a bubble does not end before its goroutines.
func TestFewGoroutinesWaitForReads(t *testing.T) {
	waiting := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ").answerBatches(")
	}
	synctest.Test(t, func(t *testing.T) {
		b, open := &bookkeeper{}, make(chan struct{})
		_, conn := serve(t, &fake{submit: atOnce, read: func(ctx context.Context, r agent.Reads) (agent.Answers, error) {
			<-open
			return b.read(ctx, r)
		}}, grpc.Options{})
		s := exchange(t, conn)
		const frames = 100
		for id := range uint64(frames) {
			send(t, s, read(id+1, &agent.GetValue{Key: "a"}))
			synctest.Wait()
		}
		if n := waiting(); n != frames {
			t.Errorf("%d goroutines answer %d reads", n, frames)
		}
		close(open)
		replies(t, s, frames)
		synctest.Wait()
		if n := waiting(); n == 0 || n > 16 {
			t.Errorf("%d goroutines wait for reads", n)
		}
		send(t, s, read(frames+1, &agent.GetValue{Key: "a"}))
		replies(t, s, 1)
	})
}

// Collected reads are flushed before a call waits for the room that they hold.
func TestReadsThatGatherDoNotHoldUpTheirOwnFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bookkeeper{}
		_, conn := serve(t, &fake{read: b.read}, grpc.Options{InFlightMax: 4})
		s := exchange(t, conn)
		var calls []*apipb.Call
		for id := uint64(1); id <= 100; id++ {
			calls = append(calls, read(id, &agent.GetValue{Key: "k"}))
		}
		send(t, s, calls...)
		replies(t, s, 100)
	})
}

func TestAPartyThatPanicsIsAnsweredWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{read: func(context.Context, agent.Reads) (agent.Answers, error) { panic("a fault") }}, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, read(1, &agent.GetValue{Key: "k"}), read(2, &agent.GetValue{Key: "k"}))
		for id, r := range replies(t, s, 2) {
			if r.GetError().GetCode() != string(agent.CodeInternal) {
				t.Errorf("read %d got %v", id, r)
			}
		}
	})
}

// Thaws of a stream may be answered with encoded entries; those of unary calls may not. A client gets
// the same entries.
func TestThawsOfAStreamMayBeEncoded(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		want := agent.Entry{ID: "a", Seq: 7, At: 1, Kind: "note", Payload: agent.JSON("{}")}
		message := &apipb.Thawed{Entries: []*apipb.Entry{{Id: want.ID, Seq: want.Seq, At: want.At, Kind: want.Kind, Payload: want.Payload}}}
		f := &fake{read: func(_ context.Context, r agent.Reads) (agent.Answers, error) {
			thawed := &agent.Thawed{Entries: []agent.Entry{want}}
			if r.Reads[0].(*agent.Thaw).Encoded {
				thawed = &agent.Thawed{Encoded: message.Encode(), Ahead: 1}
			}
			return agent.Answers{Answers: []agent.Answer{{Found: thawed}}}, nil
		}}
		_, conn := serve(t, f, grpc.Options{})
		s := exchange(t, conn)
		send(t, s, read(1, &agent.Thaw{Key: "a"}))
		streamed := replies(t, s, 1)[1].GetRead()
		unary, err := apipb.NewStoreClient(conn).Read(t.Context(), read(2, &agent.Thaw{Key: "a"}).GetRead())
		if err != nil {
			t.Fatal(err)
		}
		for ahead, m := range []*apipb.ReadResponse{unary, streamed} {
			answers, err := convert.AnswersFromProto(m)
			if err != nil {
				t.Fatal(err)
			}
			got := answers.Answers[0].Found.(*agent.Thawed)
			if got.Ahead != uint64(ahead) || len(got.Entries) != 1 || !reflect.DeepEqual(got.Entries[0], want) {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// Reads with long answers take turns: each gives its place back once it is answered.
func TestReadsWithLongAnswersTakeTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, exchange opener) { //nolint:thelper // the test itself
		b := &bookkeeper{}
		server, conn := serve(t, &fake{read: b.read}, grpc.Options{})
		s := exchange(t, conn)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		late := time.AfterFunc(time.Minute, func() { _ = server.Shutdown(ended) }) // closes the stream, if a read waits for good
		defer late.Stop()
		for id := range uint64(50) { // more than may be answered at once
			send(t, s, read(id+1, &agent.ListValues{}))
			replies(t, s, 1)
		}
	})
}
