package cluster

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const rigTimeout = 5 * time.Second

var errRigLost = errors.New("rig: lost on the network")

type rigLink struct{ from, to raft.ServerAddress }

// rigNet is a network whose links can be slow or cut, each direction apart.
type rigNet struct {
	mu      sync.Mutex
	ends    map[raft.ServerAddress]*rigEnd
	cut     map[rigLink]bool
	delay   func(rigLink) time.Duration
	install int // InstallSnapshot calls so far
}

func newRigNet() *rigNet {
	return &rigNet{ends: map[raft.ServerAddress]*rigEnd{}, cut: map[rigLink]bool{}, delay: func(rigLink) time.Duration { return time.Millisecond }}
}

func (n *rigNet) block(from, to raft.ServerAddress, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[rigLink{from, to}] = cut
}

func (n *rigNet) isolate(addr raft.ServerAddress) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.ends {
		if other != addr {
			n.cut[rigLink{addr, other}], n.cut[rigLink{other, addr}] = true, true
		}
	}
}

func (n *rigNet) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

func (n *rigNet) slow(delay func(rigLink) time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = delay
}

func (n *rigNet) installs() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.install
}

func (n *rigNet) link(from, to raft.ServerAddress) (end *rigEnd, delay time.Duration, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	link := rigLink{from, to}
	end = n.ends[to]
	return end, n.delay(link), n.cut[link] || end == nil
}

// rigEnd is one node's transport. Heartbeats take the fast path that
// raft.NetworkTransport gives them.
type rigEnd struct {
	net   *rigNet
	addr  raft.ServerAddress
	calls chan raft.RPC
	down  chan struct{}
	once  sync.Once

	mu   sync.Mutex
	beat func(raft.RPC)
}

func (n *rigNet) listen(addr raft.ServerAddress) *rigEnd {
	end := &rigEnd{net: n, addr: addr, calls: make(chan raft.RPC), down: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ends[addr] = end
	return end
}

func (e *rigEnd) Close() error {
	e.once.Do(func() { close(e.down) })
	return nil
}

func (e *rigEnd) Consumer() <-chan raft.RPC     { return e.calls }
func (e *rigEnd) LocalAddr() raft.ServerAddress { return e.addr }
func (e *rigEnd) EncodePeer(_ raft.ServerID, addr raft.ServerAddress) []byte {
	return []byte(addr)
}
func (e *rigEnd) DecodePeer(raw []byte) raft.ServerAddress { return raft.ServerAddress(raw) }

func (e *rigEnd) SetHeartbeatHandler(handle func(raft.RPC)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beat = handle
}

// deliver hands a call to its node and waits for the answer.
func (e *rigEnd) deliver(command any, body io.Reader) (any, error) {
	answer := make(chan raft.RPCResponse, 1)
	rpc := raft.RPC{Command: command, Reader: body, RespChan: answer}
	e.mu.Lock()
	beat := e.beat
	e.mu.Unlock()
	limit := time.NewTimer(rigTimeout)
	defer limit.Stop()
	if request, ok := command.(*raft.AppendEntriesRequest); ok && beat != nil && isHeartbeat(request) {
		beat(rpc)
	} else {
		select {
		case e.calls <- rpc:
		case <-e.down:
			return nil, errRigLost
		case <-limit.C:
			return nil, errRigLost
		}
	}
	select {
	case response := <-answer:
		return response.Response, response.Error
	case <-e.down:
		return nil, errRigLost
	case <-limit.C:
		return nil, errRigLost
	}
}

func isHeartbeat(r *raft.AppendEntriesRequest) bool {
	return r.Term != 0 && r.PrevLogEntry == 0 && r.PrevLogTerm == 0 && len(r.Entries) == 0 && r.LeaderCommitIndex == 0
}

// call is there, the work, and back.
func (e *rigEnd) call(to raft.ServerAddress, command any, body io.Reader) (any, error) {
	end, delay, lost := e.net.link(e.addr, to)
	if lost {
		time.Sleep(rigTimeout / 10)
		return nil, errRigLost
	}
	time.Sleep(delay)
	answer, err := end.deliver(command, body)
	if err != nil {
		return nil, err
	}
	if _, delay, lost = e.net.link(to, e.addr); lost {
		time.Sleep(rigTimeout / 10)
		return nil, errRigLost
	}
	time.Sleep(delay)
	return answer, nil
}

func rigCall[T any](e *rigEnd, to raft.ServerAddress, command any, response *T, body io.Reader) error {
	answer, err := e.call(to, command, body)
	if err == nil {
		*response = *answer.(*T)
	}
	return err
}

// AppendEntries gives the receiver entries of its own, as a wire does.
func (e *rigEnd) AppendEntries(_ raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	return rigCall(e, to, copyAppend(args), resp, nil)
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

func (e *rigEnd) RequestVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return rigCall(e, to, args, resp, nil)
}

func (e *rigEnd) RequestPreVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return rigCall(e, to, args, resp, nil)
}

func (e *rigEnd) TimeoutNow(_ raft.ServerID, to raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return rigCall(e, to, args, resp, nil)
}

func (e *rigEnd) InstallSnapshot(_ raft.ServerID, to raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, body io.Reader) error {
	e.net.mu.Lock()
	e.net.install++
	e.net.mu.Unlock()
	return rigCall(e, to, args, resp, body)
}

// rigPipeline keeps order, while requests and answers travel apart.
type rigPipeline struct {
	end   *rigEnd
	to    raft.ServerAddress
	sent  chan *rigFuture
	back  chan *rigFuture
	done  chan raft.AppendFuture
	stop  chan struct{}
	close sync.Once
}

type rigFuture struct {
	request  *raft.AppendEntriesRequest
	response *raft.AppendEntriesResponse
	start    time.Time
	due      time.Time
	lost     bool
}

func (f *rigFuture) Error() error                          { return nil }
func (f *rigFuture) Start() time.Time                      { return f.start }
func (f *rigFuture) Request() *raft.AppendEntriesRequest   { return f.request }
func (f *rigFuture) Response() *raft.AppendEntriesResponse { return f.response }

func (e *rigEnd) AppendEntriesPipeline(_ raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	p := &rigPipeline{
		end: e, to: to, sent: make(chan *rigFuture, 128), back: make(chan *rigFuture, 128),
		done: make(chan raft.AppendFuture, 128), stop: make(chan struct{}),
	}
	go p.send()
	go p.receive()
	return p, nil
}

func (p *rigPipeline) Consumer() <-chan raft.AppendFuture { return p.done }

func (p *rigPipeline) Close() error {
	p.close.Do(func() { close(p.stop) })
	return nil
}

func (p *rigPipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	_, delay, lost := p.end.net.link(p.end.addr, p.to)
	f := &rigFuture{request: args, response: resp, start: time.Now(), due: time.Now().Add(delay), lost: lost}
	select {
	case p.sent <- f:
		return f, nil
	case <-p.stop:
		return nil, errRigLost
	}
}

func (p *rigPipeline) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.stop:
		return false
	}
}

func (p *rigPipeline) send() {
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

func (p *rigPipeline) exchange(f *rigFuture) bool {
	if !p.wait(time.Until(f.due)) {
		return false
	}
	end, _, _ := p.end.net.link(p.end.addr, p.to)
	if f.lost || end == nil { // the stream dies after the time-out
		p.wait(rigTimeout)
		return false
	}
	answer, err := end.deliver(copyAppend(f.request), nil)
	if err != nil {
		return false
	}
	*f.response = *answer.(*raft.AppendEntriesResponse)
	_, delay, lost := p.end.net.link(p.to, p.end.addr)
	if lost {
		p.wait(rigTimeout)
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

func (p *rigPipeline) receive() {
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
