package transport

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const simTimeout = 5 * time.Second

var errLost = errors.New("lost on the network")

type simLink struct{ from, to raft.ServerAddress }

// simNetwork is a network whose links can be slow or cut, each direction apart.
type simNetwork struct {
	mu      sync.Mutex
	ends    map[raft.ServerAddress]*simTransport
	cut     map[simLink]bool
	delay   func(simLink) time.Duration
	install int // InstallSnapshot calls so far
}

func newSimNetwork() *simNetwork {
	return &simNetwork{ends: map[raft.ServerAddress]*simTransport{}, cut: map[simLink]bool{}, delay: func(simLink) time.Duration { return time.Millisecond }}
}

func (n *simNetwork) block(from, to raft.ServerAddress, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[simLink{from, to}] = cut
}

func (n *simNetwork) isolate(addr raft.ServerAddress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.ends {
		if other != addr {
			n.cut[simLink{addr, other}], n.cut[simLink{other, addr}] = true, true
		}
	}
}

func (n *simNetwork) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

func (n *simNetwork) slow(delay func(simLink) time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = delay
}

func (n *simNetwork) installs() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.install
}

func (n *simNetwork) link(from, to raft.ServerAddress) (end *simTransport, delay time.Duration, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := simLink{from, to}
	end = n.ends[to]
	return end, n.delay(link), n.cut[link] || end == nil
}

// simTransport is one node's transport. Heartbeats take the fast path that
// raft.NetworkTransport gives them.
type simTransport struct {
	net   *simNetwork
	addr  raft.ServerAddress
	calls chan raft.RPC
	down  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	beat func(raft.RPC)
}

func (n *simNetwork) listen(addr raft.ServerAddress) *simTransport {
	end := &simTransport{net: n, addr: addr, calls: make(chan raft.RPC), down: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends[addr] = end
	return end
}

func (e *simTransport) Close() error {
	e.once.Do(func() { close(e.down) })
	return nil
}

func (e *simTransport) Consumer() <-chan raft.RPC     { return e.calls }
func (e *simTransport) LocalAddr() raft.ServerAddress { return e.addr }
func (e *simTransport) EncodePeer(_ raft.ServerID, addr raft.ServerAddress) []byte {
	return []byte(addr)
}
func (e *simTransport) DecodePeer(raw []byte) raft.ServerAddress { return raft.ServerAddress(raw) }

func (e *simTransport) SetHeartbeatHandler(handle func(raft.RPC)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beat = handle
}

// deliver hands a call to its node and waits for the answer.
func (e *simTransport) deliver(command any, body io.Reader) (any, error) {
	answer := make(chan raft.RPCResponse, 1)
	rpc := raft.RPC{Command: command, Reader: body, RespChan: answer}
	e.mu.Lock()
	beat := e.beat
	e.mu.Unlock()
	limit := time.NewTimer(simTimeout)
	defer limit.Stop()
	if request, ok := command.(*raft.AppendEntriesRequest); ok && beat != nil && isHeartbeat(request) {
		beat(rpc)
	} else {
		select {
		case e.calls <- rpc:
		case <-e.down:
			return nil, errLost
		case <-limit.C:
			return nil, errLost
		}
	}
	select {
	case response := <-answer:
		return response.Response, response.Error
	case <-e.down:
		return nil, errLost
	case <-limit.C:
		return nil, errLost
	}
}

func isHeartbeat(r *raft.AppendEntriesRequest) bool {
	return r.Term != 0 && r.PrevLogEntry == 0 && r.PrevLogTerm == 0 && len(r.Entries) == 0 && r.LeaderCommitIndex == 0
}

// call is there, the work, and back.
func (e *simTransport) call(to raft.ServerAddress, command any, body io.Reader) (any, error) {
	end, delay, lost := e.net.link(e.addr, to)
	if lost {
		time.Sleep(simTimeout / 10)
		return nil, errLost
	}
	time.Sleep(delay)
	answer, err := end.deliver(command, body)
	if err != nil {
		return nil, err
	}
	if _, delay, lost = e.net.link(to, e.addr); lost {
		time.Sleep(simTimeout / 10)
		return nil, errLost
	}
	time.Sleep(delay)
	return answer, nil
}

func simCall[T any](e *simTransport, to raft.ServerAddress, command any, response *T, body io.Reader) error {
	answer, err := e.call(to, command, body)
	if err == nil {
		*response = *answer.(*T)
	}
	return err
}

// AppendEntries gives the receiver entries of its own, as a wire does.
func (e *simTransport) AppendEntries(_ raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	return simCall(e, to, copyAppend(args), resp, nil)
}

func copyAppend(args *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	sent := *args
	sent.Entries = make([]*raft.Log, len(args.Entries))
	for i, entry := range args.Entries {
		kept := *entry
		sent.Entries[i] = &kept
	}
	return &sent
}

func (e *simTransport) RequestVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return simCall(e, to, args, resp, nil)
}

func (e *simTransport) RequestPreVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return simCall(e, to, args, resp, nil)
}

func (e *simTransport) TimeoutNow(_ raft.ServerID, to raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return simCall(e, to, args, resp, nil)
}

func (e *simTransport) InstallSnapshot(_ raft.ServerID, to raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, body io.Reader) error {
	err := simCall(e, to, args, resp, body)
	if err == nil && resp.Success { // a leader that was replaced may send one too, and is refused
		e.net.mu.Lock()
		e.net.install++
		e.net.mu.Unlock()
	}
	return err
}

// simPipeline keeps order, while requests and answers travel apart.
type simPipeline struct {
	end   *simTransport
	to    raft.ServerAddress
	sent  chan *simFuture
	back  chan *simFuture
	done  chan raft.AppendFuture
	stop  chan struct{}
	close sync.Once
}

type simFuture struct {
	request  *raft.AppendEntriesRequest
	response *raft.AppendEntriesResponse
	start    time.Time
	due      time.Time
	lost     bool
}

func (f *simFuture) Error() error                          { return nil }
func (f *simFuture) Start() time.Time                      { return f.start }
func (f *simFuture) Request() *raft.AppendEntriesRequest   { return f.request }
func (f *simFuture) Response() *raft.AppendEntriesResponse { return f.response }

func (e *simTransport) AppendEntriesPipeline(_ raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	p := &simPipeline{
		end: e, to: to, sent: make(chan *simFuture, 128), back: make(chan *simFuture, 128),
		done: make(chan raft.AppendFuture, 128), stop: make(chan struct{}),
	}
	go p.send()
	go p.receive()
	return p, nil
}

func (p *simPipeline) Consumer() <-chan raft.AppendFuture { return p.done }

func (p *simPipeline) Close() error {
	p.close.Do(func() { close(p.stop) })
	return nil
}

func (p *simPipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	_, delay, lost := p.end.net.link(p.end.addr, p.to)
	f := &simFuture{request: args, response: resp, start: time.Now(), due: time.Now().Add(delay), lost: lost}
	select {
	case p.sent <- f:
		return f, nil
	case <-p.stop:
		return nil, errLost
	}
}

func (p *simPipeline) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.stop:
		return false
	}
}

func (p *simPipeline) send() {
	for {
		select {
		case f := <-p.sent:
			if !p.exchange(f) {
				_ = p.Close() // it has nothing to say
				return
			}
		case <-p.stop:
			return
		}
	}
}

func (p *simPipeline) exchange(f *simFuture) bool {
	if !p.wait(time.Until(f.due)) {
		return false
	}
	end, _, _ := p.end.net.link(p.end.addr, p.to)
	if f.lost || end == nil { // the stream dies after the time-out
		p.wait(simTimeout)
		return false
	}
	answer, err := end.deliver(copyAppend(f.request), nil)
	if err != nil {
		return false
	}
	*f.response = *answer.(*raft.AppendEntriesResponse)
	_, delay, lost := p.end.net.link(p.to, p.end.addr)
	if lost {
		p.wait(simTimeout)
		return false
	}
	f.due = time.Now().Add(delay)
	select {
	case p.back <- f:
		return true
	case <-p.stop:
		return false
	}
}

func (p *simPipeline) receive() {
	for {
		select {
		case f := <-p.back:
			if !p.wait(time.Until(f.due)) {
				return
			}
			select {
			case p.done <- f:
			case <-p.stop:
				return
			}
		case <-p.stop:
			return
		}
	}
}
