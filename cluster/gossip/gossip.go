package gossip

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
	"golang.org/x/sync/errgroup"
)

// Transport carries packets and streams between members. Package gossiptest has one
// in memory.
type Transport = memberlist.Transport

const (
	// rejoinMin and rejoinMax bound the time between two rounds of joining the
	// members that are not seen alive. The time is random, so that nodes do not join
	// in step.
	rejoinMin = 10 * time.Second
	rejoinMax = 30 * time.Second

	// aloneMin is the first pause of a node that sees no other member; each pause is
	// twice the one before. A node that starts may learn the other members a moment
	// later, and they see it as failed until it has joined them.
	aloneMin = 500 * time.Millisecond

	// reclaimAfter is how long the name of a failed member stays with its address.
	reclaimAfter = 30 * time.Second

	// streamTimeout bounds one dial, and so one attempt to join.
	streamTimeout    = 3 * time.Second
	wanStreamTimeout = 8 * time.Second

	// leaveMax bounds the time in which a node tells the others that it leaves, if the
	// context has no earlier deadline.
	leaveMax = 5 * time.Second
)

// ErrListen says that the node cannot listen on its gossip address.
var ErrListen = errors.New("gossip cannot listen")

// Options configures a Gossip.
type Options struct {
	Name        string // the operator's name for this node, unique in the cluster
	Incarnation string // of its data directory

	BindAddr      string // host:port; port 0 takes any
	AdvertiseAddr string // host:port as others reach it; "" means BindAddr
	// Keys encrypt gossip: 16, 24 or 32 bytes each, the same on all nodes. The first
	// one encrypts; the others are accepted too, while keys are replaced.
	Keys [][]byte

	Meta      Meta            // sent to the others
	Seeds     func() []string // gossip addresses of all members that the log knows; called every 10 to 30 s
	OnEvent   func(Seen)      // called by Run after a member joined, changed or left, with its newest state; not for Suspect; may be nil
	WAN       bool            // intervals for wide networks, in which a round trip takes up to a second
	Transport Transport       // nil means UDP and TCP
	Logger    hclog.Logger
}

// Gossip is this node's member of the gossip. Its methods may be called
// concurrently.
type Gossip struct {
	o      Options
	addr   string
	roster *roster
	list   *memberlist.Memberlist
	dials  *held

	advertised advertised // used by rejoin only

	mu     sync.Mutex // one UpdateMeta or Close at a time
	closed bool       // guarded by mu
}

// New listens and answers other members. Run joins them. Close ends both.
func New(o Options) (*Gossip, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Seeds == nil {
		o.Seeds = func() []string { return nil }
	}
	g := &Gossip{o: o}
	c, err := g.config()
	if err != nil {
		return nil, fmt.Errorf("gossip: %w", err)
	}
	g.roster = newRoster(o, c.ProbeInterval)
	if _, err := g.roster.card.encode(); err != nil {
		return nil, err
	}
	c.Delegate, c.Events, c.Alive, c.Conflict, c.Ping = g.roster, g.roster, g.roster, g.roster, g.roster
	var sockets *screen
	if c.Transport == nil {
		sockets, err = listen(c.BindAddr, c.BindPort, o.Meta.RaftAddr, o.Logger)
		if err != nil {
			return nil, fmt.Errorf("%w on %s: %w", ErrListen, o.BindAddr, err)
		}
		if c.Transport = sockets; c.BindPort == 0 {
			c.BindPort = sockets.GetAutoBindPort()
			c.AdvertisePort = c.BindPort
		}
	}
	transport, open := hold(c.Transport)
	defer open()
	c.Transport, g.dials = transport, transport
	if g.list, err = memberlist.Create(c); err != nil {
		if sockets != nil {
			err = errors.Join(err, sockets.Shutdown())
		}
		return nil, fmt.Errorf("%w on %s: %w", ErrListen, o.BindAddr, err)
	}
	g.addr = g.list.LocalNode().Address()
	return g, nil
}

// config returns the configuration of memberlist, and sets advertised.
func (g *Gossip) config() (*memberlist.Config, error) {
	o := g.o
	c := memberlist.DefaultLANConfig()
	if o.WAN {
		c = memberlist.DefaultWANConfig()
	}
	var err error
	if c.BindAddr, c.BindPort, err = splitAddr(o.BindAddr); err != nil {
		return nil, err
	}
	if o.AdvertiseAddr != "" {
		if c.AdvertiseAddr, c.AdvertisePort, err = splitAddr(o.AdvertiseAddr); err != nil {
			return nil, err
		}
		if g.advertised, err = advertise(c.AdvertiseAddr, c.BindAddr, lookupIP); err != nil {
			return nil, err
		}
		c.AdvertiseAddr = g.advertised.ip.String()
	} else {
		c.AdvertisePort = c.BindPort
	}
	switch {
	case o.Name == "" || o.Incarnation == "":
		return nil, errors.New("name and incarnation must be given")
	case len(o.Keys) == 0:
		return nil, errors.New("a key must be given")
	}
	if c.Keyring, err = memberlist.NewKeyring(o.Keys, o.Keys[0]); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	c.Name = o.Name
	c.Transport = o.Transport
	c.EnableCompression = false // a bomb decompresses without bound before 0.7.0 (docs/hazards.md, G5)
	c.DeadNodeReclaimTime = reclaimAfter
	c.TCPTimeout = streamTimeout
	if o.WAN {
		c.TCPTimeout = wanStreamTimeout
	}
	c.Logger = standard(o.Logger)
	return c, nil
}

// standard returns a logger for memberlist, whose lines begin with their level.
func standard(l hclog.Logger) *log.Logger {
	return l.StandardLogger(&hclog.StandardLoggerOptions{InferLevels: true})
}

func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: %w", addr, err)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("address %q: port: %w", addr, err)
	}
	return host, int(number), nil
}

// Addr returns the host:port that this node advertises.
func (g *Gossip) Addr() string { return g.addr }

// Members returns all members that this node has seen since it started, itself
// included, sorted by name.
func (g *Gossip) Members() []Seen { return g.roster.list() }

// Conflicts returns how often a second node with the name of a live member was
// refused.
func (g *Gossip) Conflicts() uint64 {
	g.roster.mu.Lock()
	defer g.roster.mu.Unlock()
	return g.roster.conflicts
}

// UpdateMeta changes the metadata that this node sends to the others.
func (g *Gossip) UpdateMeta(ctx context.Context, meta Meta) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errors.New("gossip: closed")
	}
	return g.updateLocked(ctx, func(c *card) { c.Meta = meta })
}

func (g *Gossip) updateLocked(ctx context.Context, change func(*card)) error {
	if err := g.roster.setCard(change); err != nil {
		return err
	}
	if err := g.list.UpdateNode(remaining(ctx)); err != nil {
		return fmt.Errorf("gossip: update the metadata: %w", err)
	}
	return nil
}

func remaining(ctx context.Context) time.Duration {
	left := leaveMax
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	return max(left, time.Millisecond) // memberlist takes 0 for no limit
}

// Run joins the other members, and rejoins those that are not seen alive, until ctx
// ends. From then on this member dials no others: what Close tells them needs no streams.
func (g *Gossip) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, g.dials.endDial)()
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return g.rejoin(ctx) })
	work.Go(func() error { return g.report(ctx) })
	return work.Wait()
}

// rejoin joins members that are not seen alive, so that the halves of a cluster find
// each other after a partition: memberlist gossips to failed members for only 30 s
// (docs/hazards.md, G2).
func (g *Gossip) rejoin(ctx context.Context) error {
	alone := aloneMin
	for {
		for _, addr := range g.missing() {
			if ctx.Err() != nil {
				break
			}
			if _, err := g.list.Join([]string{addr}); err != nil {
				g.o.Logger.Debug("could not join", "addr", addr, "error", err)
			}
		}
		g.advertised.check(ctx, g.o.Logger)
		pause := rejoinMin + rand.N(rejoinMax-rejoinMin)
		switch {
		case g.seesAnother():
			alone = aloneMin
		case alone < rejoinMin:
			pause, alone = alone, 2*alone
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// seesAnother reports whether this node sees another member alive.
func (g *Gossip) seesAnother() bool {
	return slices.ContainsFunc(g.Members(), func(s Seen) bool {
		return s.Name != g.o.Name && (s.Status == Alive || s.Status == Suspect)
	})
}

// missing returns the addresses of members that are not seen alive.
func (g *Gossip) missing() []string {
	here := map[string]bool{g.addr: true}
	for _, seen := range g.Members() {
		if seen.Status == Alive || seen.Status == Suspect {
			here[seen.Addr] = true
		}
	}
	var missing []string
	for _, addr := range g.o.Seeds() {
		if addr != "" && !here[addr] {
			here[addr] = true
			missing = append(missing, addr)
		}
	}
	return missing
}

func (g *Gossip) report(ctx context.Context) error {
	for {
		select {
		case <-g.roster.wake:
		case <-ctx.Done():
			return nil
		}
		for _, seen := range g.roster.take() {
			if g.o.OnEvent != nil {
				g.o.OnEvent(seen)
			}
		}
	}
}

// Close tells the others that this node leaves, so that they do not see it as
// failed, and stops. Run must have returned.
func (g *Gossip) Close(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	var err error
	if g.list.NumMembers() > 1 {
		err = g.updateLocked(ctx, func(c *card) { c.leaving = true })
		err = errors.Join(err, g.list.Leave(remaining(ctx)))
	}
	if err != nil { // the others will see it as failed
		g.o.Logger.Warn("could not tell the other nodes that this one leaves", "error", err)
	}
	g.dials.endDial()
	if err := g.list.Shutdown(); err != nil {
		return fmt.Errorf("gossip: close: %w", err)
	}
	return nil
}

// Drop stops without telling the others, as a crash would. It is for tests.
func (g *Gossip) Drop() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.dials.endDial()
	return g.list.Shutdown()
}
