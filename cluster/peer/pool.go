package peer

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/cluster/assign"
	"dormouse/cluster/membership"
	"dormouse/internal/framed"
	"dormouse/internal/tracing/grpctrace"
	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
	peerpb "dormouse/proto/peer"
)

// pingEvery is the time between two keepalive pings to a silent peer.
const pingEvery = 10 * time.Second

// Defaults of a Pool's fields.
const (
	deposedDefault = 500 * time.Millisecond
	connectDefault = time.Second
)

// Dial connects to a node's peer address, such as cluster.Group.DialPeer.
type Dial func(ctx context.Context, addr string) (net.Conn, error)

// Pool keeps one gRPC connection to each peer. It implements membership.Peers and
// router.Peers. Its methods may be called concurrently.
type Pool struct {
	// Deposed is how long a node that does not lead any more has to answer the commits
	// that it was sent. A node answers all of them at once when it steps down; only an
	// unreachable node does not. It must not be changed after the first use.
	Deposed time.Duration
	// Connect bounds one attempt to connect, which takes some round trips, and the wait of
	// a call on an instance for a connection to its owner: after that the call was
	// definitely not sent, and the owner may have changed. It must not be changed after the
	// first use.
	Connect time.Duration
	// VotingTerm returns this node's current term in Raft, or 0 if it may not vote. A
	// request for a read index carries it. nil means 0. It must not be changed after the
	// first use.
	VotingTerm func() uint64

	dial Dial
	ctx  context.Context //nolint:containedctx // ends with the pool; its streams end with it
	stop context.CancelFunc
	wg   sync.WaitGroup // the goroutines of streams

	mu     sync.Mutex
	links  map[string]*link // :: peer address → connection. Guarded by mu
	leads  string           // the leader's address, by the last call of Leads; guarded by mu
	closed bool             // guarded by mu
}

// link is the connection to one peer.
type link struct {
	addr string
	conn *grpc.ClientConn
	peer peerpb.PeerClient

	used     time.Time    // when a caller last asked for it; guarded by Pool.mu
	answered atomic.Int64 // Unix ms of the last answer to Status; 0 before the first

	mu       sync.Mutex
	exchange *exchange // nil until the first commit, and replaced once broken. Guarded by mu
	terms    *terms    // nil until the first request for a term, and replaced once broken. Guarded by mu
	barriers *barriers // an idle stream; nil if there is none. Guarded by mu
}

// NewPool returns a pool that connects with dial.
func NewPool(dial Dial) *Pool {
	p := &Pool{Deposed: deposedDefault, Connect: connectDefault, dial: dial, links: map[string]*link{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Close closes every connection and waits until all calls have failed.
func (p *Pool) Close() {
	p.stop()
	defer p.wg.Wait()
	p.mu.Lock()
	links := p.links
	p.links, p.closed = map[string]*link{}, true
	p.mu.Unlock()
	for _, l := range links {
		_ = l.conn.Close() // its only error is that it was closed before
	}
}

// Status implements membership.Peers.
func (p *Pool) Status(ctx context.Context, addr string) (membership.PeerStatus, error) {
	l, err := p.link(addr)
	if err != nil {
		return membership.PeerStatus{}, err
	}
	s, err := l.peer.Status(ctx, &peerpb.StatusRequest{})
	if err != nil {
		return membership.PeerStatus{}, fromStatus(err)
	}
	l.answered.Store(time.Now().UnixMilli())
	return statusFromProto(s), nil
}

// LastContact returns when the peer last answered Status, in Unix milliseconds, or 0.
func (p *Pool) LastContact(addr string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.links[addr]; l != nil {
		return l.answered.Load()
	}
	return 0
}

// GrantFounding implements membership.Peers.
func (p *Pool) GrantFounding(ctx context.Context, addr string, r membership.FoundingRequest) (membership.FoundingResponse, error) {
	l, err := p.link(addr)
	if err != nil {
		return membership.FoundingResponse{}, err
	}
	a, err := l.peer.GrantFounding(ctx, &peerpb.GrantFoundingRequest{
		Node: r.Node, Incarnation: r.Incarnation, RaftAddr: r.RaftAddr, Founding: r.Founding,
	})
	if err != nil {
		return membership.FoundingResponse{}, fromStatus(err)
	}
	return membership.FoundingResponse{Granted: a.Granted, ClusterID: a.ClusterId, Holder: a.Holder}, nil
}

// Join implements membership.Peers.
func (p *Pool) Join(ctx context.Context, addr string, r membership.JoinRequest) (membership.JoinResponse, error) {
	l, err := p.link(addr)
	if err != nil {
		return membership.JoinResponse{}, err
	}
	answer, err := l.peer.Join(ctx, joinRequestToProto(r))
	if err != nil {
		return membership.JoinResponse{}, fromStatus(err)
	}
	return joinResponseFromProto(answer), nil
}

// Change implements membership.Peers.
func (p *Pool) Change(ctx context.Context, addr string, kind, node string) (membership.ChangeResponse, error) {
	l, err := p.link(addr)
	if err != nil {
		return membership.ChangeResponse{}, err
	}
	c, err := l.peer.Change(ctx, &peerpb.ChangeRequest{Kind: kind, Node: node})
	if err != nil {
		return membership.ChangeResponse{}, fromStatus(err)
	}
	return membership.ChangeResponse{Leader: c.Leader, LeaderAddr: c.LeaderAddr, Done: c.Done, Refused: c.Refused}, nil
}

// Own sends a request about this node's lease or partitions to the leader at addr.
// It is the Ask of an assign.Placement.
func (p *Pool) Own(ctx context.Context, addr string, r assign.Request) (assign.Response, error) {
	l, err := p.link(addr)
	if err != nil {
		return assign.Response{}, err
	}
	answer, err := l.peer.Own(ctx, ownRequestToProto(r))
	if err != nil {
		return assign.Response{}, fromStatus(err)
	}
	return ownResponseFromProto(answer), nil
}

// SetRule sends a rule of an operator to the leader at addr.
func (p *Pool) SetRule(ctx context.Context, addr string, r assign.Rule) (assign.Response, error) {
	l, err := p.link(addr)
	if err != nil {
		return assign.Response{}, err
	}
	answer, err := l.peer.SetRule(ctx, &peerpb.SetRuleRequest{Kind: string(r.Kind), Node: r.Node, Partition: uint32(r.Partition)})
	if err != nil {
		return assign.Response{}, fromStatus(err)
	}
	return ownResponseFromProto(answer), nil
}

// Submit implements router.Peers: it forwards a commit that this node has validated.
// It calls done exactly once. It does not end with ctx, but tells the leader ctx's deadline.
func (p *Pool) Submit(ctx context.Context, addr string, c agent.Commit, done func(agent.Result, error)) {
	l, err := p.link(addr)
	if err != nil {
		done(agent.Result{}, err)
		return
	}
	for range 2 { // a stream may have broken since it was opened
		x := p.stream(l)
		if x == nil {
			break
		}
		if x.submit(ctx, &c, done) {
			return
		}
		l.drop(x)
	}
	done(agent.Result{}, agent.Errorf(agent.CodeUnavailable, "the stream to the leader at %s has broken", addr))
}

// Leads implements router.Peers: after Deposed it ends the streams of commits
// to nodes other than addr. The outcome of the commits that were sent to them is
// then unknown; the others were definitely not applied. It opens the stream to addr, so
// that the first commit does not wait for its connection.
func (p *Pool) Leads(addr string) {
	p.mu.Lock()
	changed := p.leads != addr
	if changed {
		p.leads = addr
		time.AfterFunc(p.Deposed, func() { p.endDeposed(addr) })
	}
	p.mu.Unlock()
	if !changed {
		return
	}
	if l, err := p.link(addr); err == nil { // it fails once the pool is closed
		p.stream(l)
	}
}

// endDeposed ends the streams to all nodes but the leader. It does nothing if the
// leader has changed again: that change has a grace of its own.
func (p *Pool) endDeposed(leads string) {
	p.mu.Lock()
	if p.leads != leads {
		p.mu.Unlock()
		return
	}
	var deposed []*link
	for addr, l := range p.links {
		if addr != leads {
			deposed = append(deposed, l)
		}
	}
	p.mu.Unlock()
	for _, l := range deposed {
		l.mu.Lock()
		x := l.exchange
		l.exchange = nil
		l.mu.Unlock()
		if x != nil {
			x.fail(errDeposed)
		}
	}
}

// stream returns the link's stream of commits, and opens it on first use. It returns
// nil once the pool is closed.
func (p *Pool) stream(l *link) *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exchange == nil && p.ctx.Err() == nil {
		l.exchange = openExchange(p.ctx, func(ctx context.Context) (apipb.Store_ExchangeClient, error) { return p.openStream(ctx, l) }, &p.wg)
	}
	return l.exchange
}

// openStream opens a stream of commits: over frames, or over gRPC with a node that does not know them.
func (p *Pool) openStream(ctx context.Context, l *link) (apipb.Store_ExchangeClient, error) {
	stream, err := p.frames(ctx, l, apipb.Store_Exchange_FullMethodName)
	if errors.Is(err, framed.ErrOther) {
		return apipb.NewStoreClient(l.conn).Exchange(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &grpc.GenericClientStream[apipb.Calls, apipb.Replies]{ClientStream: stream}, nil
}

// frames opens a stream over frames, on a connection of its own. The error is framed.ErrOther if the
// node does not know them.
func (p *Pool) frames(ctx context.Context, l *link, method string) (*framed.ClientStream, error) {
	dialling, cancel := context.WithTimeout(ctx, p.Connect)
	defer cancel()
	conn, err := p.dial(dialling, l.addr)
	if err != nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "connect to %s: %v", l.addr, err)
	}
	return framed.Open(ctx, conn, framed.ClientOptions{
		Method: method, MessageMax: convert.ReplyMessageBytesMax,
		Patience: p.Connect, KeepaliveEvery: pingEvery, KeepaliveTimeout: pingEvery / 2,
	})
}

// drop removes a broken stream.
func (l *link) drop(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.exchange == x {
		l.exchange = nil
	}
}

// link returns the connection to addr, and makes it on first use. Then it closes those that are not
// needed any more.
func (p *Pool) link(addr string) (*link, error) {
	l, unused, err := p.linkTo(addr, time.Now())
	for _, gone := range unused {
		gone.close() // no call uses it
	}
	return l, err
}

func (p *Pool) linkTo(addr string, now time.Time) (l *link, unused []*link, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, agent.Errorf(agent.CodeUnavailable, "this node is stopping")
	}
	if l := p.links[addr]; l != nil {
		l.used = now
		return l, nil, nil
	}
	if l, err = p.newLink(addr); err != nil {
		return nil, nil, err
	}
	l.used, p.links[addr] = now, l
	return l, p.takeUnused(now), nil
}

func (p *Pool) newLink(addr string) (*link, error) {
	conn, err := grpc.NewClient("passthrough:///"+addr,
		// The stream layer below is TLS or loopback; see transport.Network.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return p.dial(ctx, addr) }),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(convert.ReplyMessageBytesMax), grpc.MaxCallSendMsgSize(convert.RequestMessageBytesMax),
			grpc.ForceCodecV2(codec.Codec),
		),
		// A peer that comes back must be found within a heartbeat or two.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: p.Connect,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingEvery / 2}),
		grpc.WithDisableServiceConfig(),
		grpc.WithChainUnaryInterceptor(grpctrace.Outgoing),
	)
	if err != nil {
		return nil, agent.Errorf(agent.CodeInternal, "connect to peer %s: %v", addr, err)
	}
	return &link{addr: addr, conn: conn, peer: peerpb.NewPeerClient(conn)}, nil
}
