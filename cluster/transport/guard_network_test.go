package transport

import (
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// pipes is a stream layer of net.Pipe for raft's real transport.
type pipes struct {
	pipeNetwork *pipeNetwork
	addr        raft.ServerAddress
	queue       chan net.Conn
	down        chan struct{}
	once        sync.Once
}

type pipeNetwork struct {
	mu     sync.Mutex
	layers map[raft.ServerAddress]*pipes
	conns  []net.Conn
}

func (s *pipeNetwork) listen(addr raft.ServerAddress) *pipes {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &pipes{pipeNetwork: s, addr: addr, queue: make(chan net.Conn), down: make(chan struct{})}
	s.layers[addr] = p
	return p
}

func (s *pipeNetwork) breakAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		_ = conn.Close() // a pipe
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.queue:
		return conn, nil
	case <-p.down:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.down) })
	return nil
}

func (p *pipes) Addr() net.Addr    { return pipeAddr(p.addr) }
func (p *pipes) String() string    { return string(p.addr) }
func (a pipeAddr) Network() string { return "pipe" }
func (a pipeAddr) String() string  { return string(a) }

type pipeAddr string

func (p *pipes) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	p.pipeNetwork.mu.Lock()
	to := p.pipeNetwork.layers[addr]
	p.pipeNetwork.mu.Unlock()
	near, far := net.Pipe()
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	select {
	case to.queue <- far:
		p.pipeNetwork.mu.Lock()
		defer p.pipeNetwork.mu.Unlock()
		p.pipeNetwork.conns = append(p.pipeNetwork.conns, near, far)
		return near, nil
	case <-to.down:
		return nil, net.ErrClosed
	case <-limit.C:
		return nil, errors.New("time-out")
	}
}

// The guard on raft's own transport, as the product has it: pre-votes, the
// transfer of leadership, heartbeats off the main thread, and an end that leaves nothing
// running, since the bubble would wait for it.
func TestTheGuardStandsBeforeRaftsRealTransport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &pipeNetwork{layers: map[raft.ServerAddress]*pipes{}}
		r := newRaftCluster(t, 3)
		r.network = func(n *raftNode) raft.Transport {
			return noPipeline{raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
				Stream: s.listen(n.addr), MaxPool: 3, Timeout: 10 * time.Second, Logger: nullLogger,
			})}
		}
		r.start()
		leader := r.leader()
		for i := range 200 {
			r.mustPut(leader, "x", i)
		}
		if err := leader.raft.LeadershipTransfer().Error(); err != nil {
			t.Fatal(err)
		}
		next := r.leaderOtherThan(leader, 10*time.Second)
		if next == nil {
			t.Fatal("no leader after the transfer")
		}
		r.mustPut(next, "x", 1000)
		var off, on int64
		count := func() {
			off, on = 0, 0
			for _, n := range r.nodes {
				off, on = off+n.guard.offThread.Load(), on+n.guard.onThread.Load()
			}
		}
		time.Sleep(time.Second)
		count()
		offBefore, onBefore := off, on
		time.Sleep(10 * time.Minute)
		count()
		if off-offBefore < 1000 || on != onBefore {
			t.Errorf("in 10 quiet minutes %d heartbeats went off the main thread and %d through it, want over 1000 and none", off-offBefore, on-onBefore)
		}
		for _, n := range r.nodes {
			if n.machine.get("x") != 1000 {
				t.Errorf("%s has x=%d, want 1000", n.id, n.machine.get("x"))
			}
			r.crash(n)
		}
		s.breakAll() // raft leaves the connections that it accepted open (docs/hazards.md, S12); the stream layer's business
	})
}
