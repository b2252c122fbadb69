package raftrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
)

// fill sets each field of v to a value of its own, so that a field that is not
// carried, or that is taken for another, is noticed.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(1_700_000_000+*next), 123_456_789).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Appendf(nil, "bytes %d", *next))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(*next % 256))
	case reflect.Uint64:
		v.SetUint(uint64(*next) << 40)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*next))
	default:
		panic(fmt.Sprintf("a field of type %s: carry it, and fill it here", v.Type()))
	}
}

func filled[T any](seed int) *T {
	v := new(T)
	fill(reflect.ValueOf(v).Elem(), &seed)
	return v
}

// pairs are two transports on one network, with all encodings.
func pairs(t *testing.T, test func(t *testing.T, from, to transport)) {
	t.Helper()
	for _, pair := range []pair{
		{"frames", framed, framed},
		{"frames with checksums", summed, summed},
		{"msgpack", packed, packed},
		{"to a node before", packed, raftsOwn},
		{"of a node before", raftsOwn, packed},
		{"frames, not TCP", covered, covered},
		{"all nodes before", raftsOwn, raftsOwn}, // the test itself
	} {
		t.Run(pair.name, func(t *testing.T) { test(t, pair.from(t), pair.to(t)) })
	}
}

// covered returns a transport whose connections do not show that they are TCP, like TLS.
func covered(tb testing.TB) transport {
	tb.Helper()
	return on(tb, coveredLayer{listen(tb, SummedFrames)})
}

type coveredLayer struct{ *tcpLayer }

func (l coveredLayer) Dial(addr raft.ServerAddress) (net.Conn, Encoding, error) {
	c, e, err := l.tcpLayer.Dial(addr)
	return struct{ net.Conn }{c}, e, err
}

// Each field of each message arrives: a newer Raft may have more of them.
func TestEachFieldOfEachCallArrives(t *testing.T) {
	pairs(t, func(t *testing.T, from, to transport) {
		t.Helper()
		for i, c := range []struct {
			request, response any
			call              func(request, response any) error
		}{
			{filled[raft.AppendEntriesRequest](100), filled[raft.AppendEntriesResponse](200), func(q, r any) error {
				return from.AppendEntries("n2", to.LocalAddr(), q.(*raft.AppendEntriesRequest), r.(*raft.AppendEntriesResponse))
			}},
			{filled[raft.RequestVoteRequest](300), filled[raft.RequestVoteResponse](400), func(q, r any) error {
				return from.RequestVote("n2", to.LocalAddr(), q.(*raft.RequestVoteRequest), r.(*raft.RequestVoteResponse))
			}},
			{filled[raft.RequestPreVoteRequest](500), filled[raft.RequestPreVoteResponse](600), func(q, r any) error {
				return from.RequestPreVote("n2", to.LocalAddr(), q.(*raft.RequestPreVoteRequest), r.(*raft.RequestPreVoteResponse))
			}},
			{filled[raft.TimeoutNowRequest](700), filled[raft.TimeoutNowResponse](800), func(q, r any) error {
				return from.TimeoutNow("n2", to.LocalAddr(), q.(*raft.TimeoutNowRequest), r.(*raft.TimeoutNowResponse))
			}},
			{filled[raft.InstallSnapshotRequest](900), filled[raft.InstallSnapshotResponse](1000), func(q, r any) error {
				size := q.(*raft.InstallSnapshotRequest).Size
				return from.InstallSnapshot("n2", to.LocalAddr(), q.(*raft.InstallSnapshotRequest), r.(*raft.InstallSnapshotResponse), bytes.NewReader(make([]byte, size)))
			}},
		} {
			got := make(chan any, 1)
			go func() {
				rpc := <-to.Consumer()
				if rpc.Reader != nil {
					_, _ = io.Copy(io.Discard, rpc.Reader)
				}
				got <- rpc.Command
				rpc.Respond(c.response, nil)
			}()
			response := reflect.New(reflect.TypeOf(c.response).Elem()).Interface()
			if err := c.call(c.request, response); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
			if diff := cmp.Diff(c.request, <-got); diff != "" {
				t.Errorf("the request (- sent, + came):\n%s", diff)
			}
			if diff := cmp.Diff(c.response, response); diff != "" {
				t.Errorf("the response (- sent, + came):\n%s", diff)
			}
		}
	})
}

// Entries of all sizes arrive as they were, and none can grow into the next.
func TestEntriesArriveAsTheyWere(t *testing.T) {
	pairs(t, func(t *testing.T, from, to transport) {
		t.Helper()
		call := appendCall(0, 0)
		for i, size := range []int{0, 1, 1 << 10, 0, sharedBytesMax, 1, sharedBytesMax + 1, 3*sharedBytesMax + 7, 100, 5 << 20, 0} {
			e := &raft.Log{Index: uint64(i), Term: 9, Type: raft.LogNoop, Data: bytes.Repeat([]byte{byte(i)}, size)}
			if size == 0 {
				e.Data = nil
			}
			if i%2 == 1 {
				e.Extensions = fmt.Appendf(nil, "extensions %d", i)
			}
			call.Entries = append(call.Entries, e)
		}
		var got *raft.AppendEntriesRequest
		answer(t, to, func(rpc raft.RPC) {
			got, _ = rpc.Command.(*raft.AppendEntriesRequest)
			rpc.Respond(new(raft.AppendEntriesResponse), nil)
		})
		if err := from.AppendEntries("n2", to.LocalAddr(), call, new(raft.AppendEntriesResponse)); err != nil {
			t.Fatal(err)
		}
		_, shares := to.(*Transport)
		shares = shares && !strings.Contains(t.Name(), "msgpack") && !strings.Contains(t.Name(), "before")
		for i, want := range call.Entries {
			e := got.Entries[i]
			if e.Index != want.Index || e.Type != want.Type || !bytes.Equal(e.Data, want.Data) || !bytes.Equal(e.Extensions, want.Extensions) {
				t.Errorf("entry %d of %d bytes came as %d of %d bytes", i, len(want.Data), e.Index, len(e.Data))
			}
			if shares && (cap(e.Data) != len(e.Data) || cap(e.Extensions) != len(e.Extensions)) {
				t.Errorf("entry %d has room for %d bytes after its %d", i, cap(e.Data)-len(e.Data), len(e.Data))
			}
		}
	})
}

// An error of the other node arrives, with and without a response, and the
// connection is used again.
func TestARefusalLeavesTheConnection(t *testing.T) {
	for _, encoding := range []Encoding{SummedFrames, Frames, Msgpack} {
		layer := listen(t, encoding)
		var dialed atomic.Int64
		layer.dialed = func(net.Conn) { dialed.Add(1) }
		from, to := on(t, layer), on(t, listen(t, encoding))
		long := strings.Repeat("x", errorBytesMax+1)
		answers := []struct {
			response any
			err      error
		}{{nil, errors.New("refused")}, {&raft.AppendEntriesResponse{Term: 8}, errors.New("busy")}, {nil, errors.New(long)}, {&raft.AppendEntriesResponse{Term: 9}, nil}}
		next := 0
		answer(t, to, func(rpc raft.RPC) {
			rpc.Respond(answers[next].response, answers[next].err)
			next++
		})
		for i, want := range []string{"refused", "busy", long, ""} {
			var got raft.AppendEntriesResponse
			err := from.AppendEntries("n2", to.LocalAddr(), appendCall(1, 10), &got)
			if encoding != Msgpack {
				want = want[:min(len(want), errorBytesMax)]
			}
			if text := fmt.Sprint(err); text != want && (want != "" || err != nil) {
				t.Errorf("encoding %d: call %d: %.100q, want %.100q", encoding, i, text, want)
			}
			if i == 1 && got.Term != 8 || i == 3 && got.Term != 9 {
				t.Errorf("encoding %d: call %d: the response is %+v", encoding, i, got)
			}
		}
		if n := dialed.Load(); n != 1 {
			t.Errorf("encoding %d: %d connections for calls one after the other", encoding, n)
		}
	}
}

// A heartbeat is handled on its connection's goroutine while Raft's main thread
// takes no calls.
func TestHeartbeatsDoNotWaitForTheQueue(t *testing.T) {
	pairs(t, func(t *testing.T, from, to transport) {
		t.Helper()
		to.SetHeartbeatHandler(func(rpc raft.RPC) { rpc.Respond(&raft.AppendEntriesResponse{Term: 5}, nil) })
		beat := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ID: []byte("n1"), Addr: []byte("a1")}, Term: 5}
		for range 3 {
			var got raft.AppendEntriesResponse
			if err := from.AppendEntries("n2", to.LocalAddr(), beat, &got); err != nil || got.Term != 5 {
				t.Fatalf("a heartbeat: %v, %+v", err, got)
			}
		}
		taken := make(chan any, 3)
		answer(t, to, func(rpc raft.RPC) {
			taken <- rpc.Command
			rpc.Respond(new(raft.AppendEntriesResponse), nil)
		})
		for i, other := range []func(*raft.AppendEntriesRequest){
			func(r *raft.AppendEntriesRequest) { r.PrevLogEntry = 1 }, func(r *raft.AppendEntriesRequest) { r.PrevLogTerm = 1 },
			func(r *raft.AppendEntriesRequest) { r.LeaderCommitIndex = 1 },
		} {
			call := *beat
			other(&call)
			if err := from.AppendEntries("n2", to.LocalAddr(), &call, new(raft.AppendEntriesResponse)); err != nil {
				t.Fatal(err)
			}
			if len(taken) != i+1 {
				t.Fatalf("call %d, which is no heartbeat, did not go to the main thread", i)
			}
		}
	})
}

// At most Idle connections to a node are kept.
func TestIdleConnectionsAreBounded(t *testing.T) {
	layer := listen(t, Frames)
	var mu sync.Mutex
	var dialed []net.Conn
	layer.dialed = func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		dialed = append(dialed, c)
	}
	from, to := on(t, layer), on(t, listen(t, Frames))
	const calls = 8
	release := make(chan struct{})
	answer(t, to, func(rpc raft.RPC) {
		go func() {
			<-release
			rpc.Respond(new(raft.AppendEntriesResponse), nil)
		}()
	})
	var made sync.WaitGroup
	for range calls {
		made.Go(func() {
			if err := from.AppendEntries("n2", to.LocalAddr(), appendCall(0, 0), new(raft.AppendEntriesResponse)); err != nil {
				t.Error(err)
			}
		})
	}
	for n := 0; n < calls; time.Sleep(time.Millisecond) {
		mu.Lock()
		n = len(dialed)
		mu.Unlock()
	}
	close(release)
	made.Wait()
	open := 0
	for _, c := range dialed {
		if c.SetDeadline(time.Time{}) == nil {
			open++
		}
	}
	if open != 3 {
		t.Errorf("%d connections of %d are kept, want 3", open, calls)
	}
	from.pool.close()
	if err := from.AppendEntries("n2", to.LocalAddr(), appendCall(0, 0), new(raft.AppendEntriesResponse)); err != nil {
		t.Fatal(err)
	}
	if last := dialed[len(dialed)-1]; last.SetDeadline(time.Time{}) == nil {
		t.Error("a closed transport keeps a connection")
	}
}

// A snapshot follows its call, whatever the pieces in which it is read.
func TestASnapshotFollowsItsCall(t *testing.T) {
	state := bytes.Repeat([]byte("state "), 1<<20)
	pairs(t, func(t *testing.T, from, to transport) {
		t.Helper()
		answer(t, to, func(rpc raft.RPC) {
			got, err := io.ReadAll(rpc.Reader)
			rpc.Respond(&raft.InstallSnapshotResponse{Success: err == nil && bytes.Equal(got, state)}, err)
		})
		for range 2 {
			var got raft.InstallSnapshotResponse
			call := &raft.InstallSnapshotRequest{Term: 3, Configuration: []byte("configuration"), Size: int64(len(state))}
			err := from.InstallSnapshot("n2", to.LocalAddr(), call, &got, iotest.HalfReader(bytes.NewReader(state)))
			if err != nil || !got.Success {
				t.Fatalf("%v, %+v", err, got)
			}
		}
	})
}

func TestASnapshotThatEndsTooEarlyFailsAtOnce(t *testing.T) {
	from, to := on(t, listen(t, Frames)), on(t, listen(t, Frames))
	read := make(chan error, 1)
	answer(t, to, func(rpc raft.RPC) {
		n, err := io.Copy(io.Discard, rpc.Reader)
		if err == nil && n < 1000 {
			err = io.ErrUnexpectedEOF
		}
		read <- err
		rpc.Respond(nil, err)
	})
	err := from.InstallSnapshot("n2", to.LocalAddr(), &raft.InstallSnapshotRequest{Size: 1000}, new(raft.InstallSnapshotResponse), strings.NewReader("short"))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the sender: %v", err)
	}
	if err := <-read; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the receiver: %v", err)
	}
}

// A sender that is stopped within a snapshot does not hold up Raft at the receiver.
func TestASnapshotThatStopsFails(t *testing.T) {
	for _, encoding := range []Encoding{SummedFrames, Frames, Msgpack} {
		from := on(t, listen(t, encoding))
		to := New(Options{Layer: listen(t, encoding), Idle: 3, Timeout: 50 * time.Millisecond, Logger: nullLogger})
		t.Cleanup(func() { _ = to.Close() })
		read := make(chan error, 1)
		go func() {
			rpc := <-to.Consumer()
			_, err := io.Copy(io.Discard, rpc.Reader)
			read <- err
			rpc.Respond(nil, err)
		}()
		data, stopped := io.Pipe()
		sent := make(chan error, 1)
		go func() {
			sent <- from.InstallSnapshot("n2", to.LocalAddr(), &raft.InstallSnapshotRequest{Size: 1 << 20}, new(raft.InstallSnapshotResponse), data)
		}()
		if _, err := stopped.Write(make([]byte, 1<<19)); err != nil {
			t.Fatal(err)
		}
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("encoding %d: %v", encoding, err)
		}
		_ = stopped.Close() // the sender goes on
		if err := <-sent; err == nil {
			t.Errorf("encoding %d: the sender was told of success", encoding)
		}
	}
}

// A receiver that takes nothing more of a snapshot, as on a machine that has vanished, holds its sender up
// for one timeout, however large the snapshot is.
func TestASnapshotThatIsNotTakenFails(t *testing.T) {
	for _, encoding := range []Encoding{SummedFrames, Frames, Msgpack} {
		from := New(Options{Layer: listen(t, encoding), Idle: 3, Timeout: 50 * time.Millisecond, Logger: nullLogger})
		t.Cleanup(func() { _ = from.Close() })
		to := on(t, listen(t, encoding)) // nothing handles its calls
		err := from.InstallSnapshot("n2", to.LocalAddr(), &raft.InstallSnapshotRequest{Size: 1 << 40}, new(raft.InstallSnapshotResponse), zeros{})
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("encoding %d: %v", encoding, err)
		}
	}
}

// A snapshot that is refused unread: the sender learns why if it is small, and that
// the connection ended if it is large. It does not wait for its time-out.
func TestARefusedSnapshotEndsItsConnection(t *testing.T) {
	for _, encoding := range []Encoding{SummedFrames, Frames, Msgpack} {
		from, to := on(t, listen(t, encoding)), on(t, listen(t, encoding))
		answer(t, to, func(rpc raft.RPC) { rpc.Respond(nil, errors.New("refused")) })
		for _, size := range []int64{0, 10, drainedMax, 200 << 20} {
			begin := time.Now()
			err := from.InstallSnapshot("n2", to.LocalAddr(), &raft.InstallSnapshotRequest{Size: size}, new(raft.InstallSnapshotResponse), zeros{})
			if err == nil || size <= drainedMax && err.Error() != "refused" {
				t.Errorf("encoding %d: %d bytes: %v", encoding, size, err)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("encoding %d: %d bytes: it took %s", encoding, size, took)
			}
		}
	}
}

// zeros is a snapshot.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// A call of which the other node is gone, or which it does not answer, ends with an
// error, and the next call has another connection.
func TestACallThatFailsClosesItsConnection(t *testing.T) {
	layer := listen(t, Frames)
	from := New(Options{Layer: layer, Idle: 3, Timeout: 500 * time.Millisecond, Logger: nullLogger})
	var dialed []net.Conn
	layer.dialed = func(c net.Conn) { dialed = append(dialed, c) }
	to := on(t, listen(t, Frames))
	var awake atomic.Bool
	answer(t, to, func(rpc raft.RPC) {
		if awake.Load() {
			rpc.Respond(new(raft.AppendEntriesResponse), nil)
		}
	})
	err := from.AppendEntries("n2", to.LocalAddr(), appendCall(1, 10), new(raft.AppendEntriesResponse))
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a node that does not answer: %v", err)
	}
	if dialed[0].SetDeadline(time.Time{}) == nil {
		t.Error("the connection of a call that timed out is open")
	}
	awake.Store(true)
	if err := from.AppendEntries("n2", to.LocalAddr(), appendCall(1, 10), new(raft.AppendEntriesResponse)); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if err := from.Close(); err != nil {
		t.Error(err)
	}
	if dialed[1].SetDeadline(time.Time{}) == nil {
		t.Error("an idle connection is open after Close")
	}
}
