package raftrpc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

// idleIn makes three calls at once, so that from keeps three idle connections to to.
// Three answers must be sent to release.
func idleIn(t *testing.T, from, to *Transport, arrived <-chan struct{}, release chan<- struct{}) {
	t.Helper()
	var made sync.WaitGroup
	for range 3 {
		made.Go(func() {
			if err := from.AppendEntries("n2", to.LocalAddr(), appendCall(0, 0), new(raft.AppendEntriesResponse)); err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		<-arrived
	}
	for range 3 {
		release <- struct{}{}
	}
	made.Wait()
}

// loseAccepted closes the connections that other nodes have made to a node, as its restart does.
func loseAccepted(to *Transport) {
	to.mu.Lock()
	defer to.mu.Unlock()
	for c := range to.accepted {
		_ = c.Close() // it is lost
	}
}

// After a node's restart no idempotent call to it fails, and one TimeoutNow at most: the first
// call on a lost connection drops all idle ones.
func TestARestartedNodeCostsNoVotes(t *testing.T) {
	for _, encoding := range []Encoding{SummedFrames, Frames, Msgpack} {
		layer := listen(t, encoding)
		var dialed, timeouts atomic.Int64
		layer.dialed = func(net.Conn) { dialed.Add(1) }
		from, to := on(t, layer), on(t, listen(t, encoding))
		arrived, release := make(chan struct{}, 3), make(chan struct{}, 3)
		answer(t, to, func(rpc raft.RPC) {
			switch rpc.Command.(type) {
			case *raft.AppendEntriesRequest:
				arrived <- struct{}{}
				go func() {
					<-release
					rpc.Respond(new(raft.AppendEntriesResponse), nil)
				}()
			case *raft.RequestVoteRequest:
				rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
			case *raft.RequestPreVoteRequest:
				rpc.Respond(&raft.RequestPreVoteResponse{Granted: true}, nil)
			case *raft.TimeoutNowRequest:
				timeouts.Add(1)
				rpc.Respond(new(raft.TimeoutNowResponse), nil)
			}
		})
		calls := map[string]func() error{
			"a vote": func() error {
				return from.RequestVote("n2", to.LocalAddr(), &raft.RequestVoteRequest{Term: 2}, new(raft.RequestVoteResponse))
			},
			"a pre-vote": func() error {
				return from.RequestPreVote("n2", to.LocalAddr(), &raft.RequestPreVoteRequest{Term: 2}, new(raft.RequestPreVoteResponse))
			},
			"entries": func() error {
				release <- struct{}{}
				defer func() { <-arrived }()
				return from.AppendEntries("n2", to.LocalAddr(), appendCall(1, 10), new(raft.AppendEntriesResponse))
			},
			"leadership": func() error {
				return from.TimeoutNow("n2", to.LocalAddr(), new(raft.TimeoutNowRequest), new(raft.TimeoutNowResponse))
			},
		}
		for first, call := range calls {
			from.pool.drop(to.LocalAddr())
			idleIn(t, from, to, arrived, release)
			loseAccepted(to)
			before := dialed.Load()
			if err := call(); (err != nil) != (first == "leadership") {
				t.Fatalf("encoding %d: %s, first after the restart: %v", encoding, first, err)
			}
			for next, call := range calls {
				if err := call(); err != nil {
					t.Errorf("encoding %d: %s, after %s: %v", encoding, next, first, err)
				}
			}
			if n := dialed.Load() - before; n != 1 {
				t.Errorf("encoding %d: %s dialed %d times, want once", encoding, first, n)
			}
		}
		if n := timeouts.Load(); n != int64(len(calls)) {
			t.Errorf("encoding %d: %d calls to lead arrived, want %d", encoding, n, len(calls))
		}
	}
}

func TestWhatALostConnectionIs(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	vanished := &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)} // keep-alives were not answered
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, reset, vanished, fmt.Errorf("decode a reply: %w", io.EOF)} {
		if !isLost(err) {
			t.Errorf("%v: the connection is not taken for lost", err)
		}
	}
	slow := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	for _, err := range []error{nil, slow, errDamaged, errMalformed, errTooLarge, fmt.Errorf("decode a reply: %w", slow)} {
		if isLost(err) {
			t.Errorf("%v: the connection is taken for lost", err)
		}
	}
}

// A call that finds its connection lost closes the others to that node too.
func TestALostConnectionClosesTheIdleOnes(t *testing.T) {
	ours, theirs := net.Pipe()
	p := pool{most: 3, idle: map[raft.ServerAddress][]*link{}}
	p.put(newLink(ours, Frames, "n2"))
	p.drop("n2")
	if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection is open: %v", err)
	}
	if p.take("n2") != nil {
		t.Error("a closed connection is handed out")
	}
}
