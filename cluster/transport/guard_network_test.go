package transport

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/cluster/raftrpc"
)

// pipes is the layer of net.Pipe of one node's transport.
type pipes struct {
	pipeNetwork *pipeNetwork
	addr        raft.ServerAddress
	old         bool // a node of a build before frames
	queue       chan pipe
	down        chan struct{}
	once        sync.Once
}

// pipe is an end of a connection.
type pipe struct {
	net.Conn
	encoding raftrpc.Encoding
}

type pipeNetwork struct {
	mu     sync.Mutex
	layers map[raft.ServerAddress]*pipes
	conns  []net.Conn
}

func (s *pipeNetwork) listen(addr raft.ServerAddress, old bool) *pipes {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &pipes{pipeNetwork: s, addr: addr, old: old, queue: make(chan pipe), down: make(chan struct{})}
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

func (p *pipes) Accept() (net.Conn, raftrpc.Encoding, error) {
	select {
	case c := <-p.queue:
		return c.Conn, c.encoding, nil
	case <-p.down:
		return nil, raftrpc.Msgpack, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.down) })
	return nil
}

func (p *pipes) Addr() net.Addr    { return pipeAddr(p.addr) }
func (a pipeAddr) Network() string { return "pipe" }
func (a pipeAddr) String() string  { return string(a) }

type pipeAddr string

func (p *pipes) Dial(addr raft.ServerAddress) (net.Conn, raftrpc.Encoding, error) {
	p.pipeNetwork.mu.Lock()
	to := p.pipeNetwork.layers[addr]
	p.pipeNetwork.mu.Unlock()
	near, far := net.Pipe()
	encoding := raftrpc.SummedFrames
	if p.old || to.old {
		encoding = raftrpc.Msgpack
	}
	limit := time.NewTimer(Timeout)
	defer limit.Stop()
	select {
	case to.queue <- pipe{far, encoding}:
		p.pipeNetwork.mu.Lock()
		defer p.pipeNetwork.mu.Unlock()
		p.pipeNetwork.conns = append(p.pipeNetwork.conns, near, far)
		return near, encoding, nil
	case <-to.down:
		return nil, encoding, net.ErrClosed
	case <-limit.C:
		return nil, encoding, errors.New("time-out")
	}
}

// streamLayer makes pipes the layer of raft's own transport.
type streamLayer struct{ *pipes }

func (l streamLayer) Accept() (net.Conn, error) {
	c, _, err := l.pipes.Accept()
	return c, err
}

func (l streamLayer) Dial(addr raft.ServerAddress, _ time.Duration) (net.Conn, error) {
	c, _, err := l.pipes.Dial(addr)
	return c, err
}

// earlier is the transport of builds before frames.
type earlier struct{ *raft.NetworkTransport }

func (earlier) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// The guard on the transport of the product: pre-votes, the transfer of leadership,
// heartbeats off the main thread, and an end that leaves nothing running, since the
// bubble would wait for it. During an upgrade some nodes have the transport of
// builds before frames.
func TestTheGuardStandsBeforeRaftsRealTransport(t *testing.T) {
	for _, old := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("%d nodes of the build before", old), func(t *testing.T) { guardOnTheNetwork(t, old) })
	}
}

func guardOnTheNetwork(t *testing.T, old int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &pipeNetwork{layers: map[raft.ServerAddress]*pipes{}}
		r := newRaftCluster(t, 3)
		r.network = func(n *raftNode) raft.Transport {
			layer := s.listen(n.addr, len(s.layers) < old)
			if layer.old {
				return earlier{raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
					Stream: streamLayer{layer}, MaxPool: 3, Timeout: Timeout, Logger: nullLogger,
				})}
			}
			return raftrpc.New(raftrpc.Options{Layer: layer, Idle: idleMax, Timeout: Timeout, Logger: nullLogger})
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
		if old > 0 {
			s.breakAll() // raft's own transport leaves the connections that it accepted open (docs/hazards.md, S12)
		}
	})
}
