package client

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/tracing/grpctrace"
	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
)

const (
	dialTimeout       = 2 * time.Second
	dialBackoffFirst  = 50 * time.Millisecond
	dialBackoffMost   = 2 * time.Second
	keepaliveEvery    = 10 * time.Second // ping a silent node
	keepaliveTimeout  = 5 * time.Second
	streamWindowBytes = 1 << 20
	connWindowBytes   = 4 << 20
)

// connectLocked starts connect, unless it runs. mu is held.
func (p *pool) connectLocked() {
	if p.connecting || p.closed {
		return
	}
	p.connecting = true
	p.work.Go(p.connect)
}

// connect dials until the preferred endpoint has a link. It ends earlier if no
// endpoint may be dialled now and no call waits.
func (p *pool) connect() {
	for {
		p.mu.Lock()
		e, wait := p.nextToDial()
		if e == nil && wait == 0 {
			p.connecting = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		if e == nil {
			select {
			case <-time.After(wait):
			case <-p.ctx.Done():
			}
			continue
		}
		l, err := p.dial(e.addr)
		p.dialled(e, l, err)
	}
}

// nextToDial returns the first endpoint, from the preferred one on, that may be
// dialled now, or else the time until one may be. It returns neither if no dial is
// needed. mu is held.
func (p *pool) nextToDial() (*endpoint, time.Duration) {
	if p.closed || p.endpoints[p.at].link != nil {
		return nil, 0
	}
	now, up := time.Now(), p.up()
	soonest := dialBackoffMost
	for i := range p.endpoints {
		e := p.endpoints[(p.at+i)%len(p.endpoints)]
		if e.link != nil {
			continue
		}
		if !e.retryAt.After(now) {
			return e, 0
		}
		soonest = min(soonest, e.retryAt.Sub(now))
	}
	if up != nil || p.parked.Len() == 0 {
		// Another endpoint is up, or no call waits: the next call dials again.
		for i := range p.endpoints {
			if p.endpoints[i].link != nil {
				p.at = i
			}
		}
		return nil, 0
	}
	return nil, soonest
}

// dialled handles the result of a dial.
func (p *pool) dialled(e *endpoint, l *link, err error) {
	p.mu.Lock()
	if err != nil {
		e.retryAt = time.Now().Add(e.backoff.Next())
		if p.endpoints[p.at] == e {
			p.at = (p.at + 1) % len(p.endpoints)
		}
		p.mu.Unlock()
		p.o.Logger.Debug("cannot connect", "endpoint", e.addr, "error", err)
		return
	}
	if p.closed {
		p.mu.Unlock()
		l.cancel()
		l.run(func() {}) // ends at once, and closes the connection
		return
	}
	e.link = l
	for i := range p.endpoints {
		if p.endpoints[i] == e {
			p.at = i
		}
	}
	p.work.Go(func() { l.run(func() { p.down(e, l) }) })
	switch {
	case p.refreshing:
		p.refreshSoon() // an earlier refresh found no link
	case !p.o.Fixed:
		p.refreshing = true
		p.work.Go(p.refresh)
	}
	p.o.Logger.Debug("connected", "endpoint", e.addr)
	p.resume()
}

// conn returns a connection to addr, which connects on first use and becomes idle when
// it is unused.
func (p *pool) conn(addr string) (*grpc.ClientConn, error) {
	if !p.o.mayCarryToken(addr) {
		return nil, agent.Errorf(agent.CodeUnavailable, "the token would be sent to %s without encryption", addr)
	}
	transport := insecure.NewCredentials()
	if p.o.TLS != nil {
		transport = credentials.NewTLS(p.o.TLS)
	}
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithChainUnaryInterceptor(grpctrace.Outgoing),
		grpc.WithDisableRetry(), // the client decides what may be sent again
		grpc.WithIdleTimeout(linkIdleAfter),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout}),
		grpc.WithInitialWindowSize(streamWindowBytes),
		grpc.WithInitialConnWindowSize(connWindowBytes),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallSendMsgSize(convert.RequestMessageBytesMax), grpc.MaxCallRecvMsgSize(convert.ReplyMessageBytesMax),
			grpc.ForceCodecV2(codec.Codec),
		),
	}, p.cluster.dialOptions()...)
	if p.o.Token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer(p.o.Token)))
	}
	if p.o.Dialer != nil {
		options = append(options, grpc.WithContextDialer(p.o.Dialer))
	}
	options = append(options, p.o.DialOptions...)
	// The dialer resolves names: passthrough needs no resolver.
	return grpc.NewClient("passthrough:///"+addr, options...)
}

// dial opens a connection and its Exchange stream.
func (p *pool) dial(addr string) (*link, error) {
	conn, err := p.conn(addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.ctx)
	impatient := time.AfterFunc(dialTimeout, cancel)
	stream, moved, err := p.exchange(ctx, addr, conn)
	if err == nil && p.cluster.get() != "" {
		err = p.sameCluster(addr, stream) // before any call is sent
	}
	if err == nil && !impatient.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		impatient.Stop()
		cancel()
		_ = conn.Close() // it was never used
		return nil, err
	}
	l := newLink(p.ctx, addr, conn, stream, cancel)
	l.dial = func() (*grpc.ClientConn, error) { return p.conn(addr) }
	if moved != nil {
		l.moved = moved
	}
	l.check = func() error { return p.sameCluster(addr, stream) }
	return l, nil
}

// sameCluster waits for the header of a new stream, and returns an error if the node
// belongs to another cluster.
func (p *pool) sameCluster(addr string, stream apipb.Store_ExchangeClient) error {
	header, err := stream.Header()
	if err != nil {
		return err
	}
	err = p.cluster.check(addr, header)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foreign = err
	return err
}
