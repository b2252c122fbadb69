package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"dormouse/jepsen/testbed/packet"
)

// Bed is a cluster on hosts of our own. All methods may be called
// concurrently; once it is closed nothing starts on it any more.
type Bed struct {
	options Options
	binary  string
	base    int          // first port on loopback
	net     *Net         // nil where hosts share loopback
	web     *http.Client // asks nodes, from the clients' host

	mu      sync.Mutex
	hosts   []*Host
	missing []string
	can     map[Capability]bool

	life   sync.RWMutex // held by what must not meet Close
	closed bool         // guarded by life
}

// voteMax is how long a new cluster may take until all of its nodes vote.
const voteMax = 60 * time.Second

// Open makes the hosts, starts their nodes, the first as the founder, and
// waits until all of them vote.
func Open(ctx context.Context, o Options) (_ *Bed, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("testbed: %w", err)
	}
	b := &Bed{options: o, can: map[Capability]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if b.binary, err = b.build(ctx); err != nil {
		return nil, err
	}
	if err := b.furnish(); err != nil {
		return nil, err
	}
	for range o.Nodes {
		if _, err := b.AddHost(ctx); err != nil {
			return nil, err
		}
	}
	if err := b.found(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// furnish makes what the hosts share.
func (b *Bed) furnish() (err error) {
	if b.base, err = freePorts(); err != nil {
		return err
	}
	b.web = &http.Client{Transport: &http.Transport{DialContext: b.dial, DisableKeepAlives: true}}
	if b.options.Net {
		if b.net, err = openNet(); err == nil {
			b.can[CanPartition] = true
		} else {
			b.lack("no network of our own (%v): nodes share loopback, and partitions, delays and losses are left out; try as root, with /dev/net/tun", err)
		}
	}
	return nil
}

// lack notes what cannot be had here.
func (b *Bed) lack(format string, args ...any) {
	b.missing = append(b.missing, fmt.Sprintf(format, args...))
	b.options.Logf(format, args...)
}

// found starts the nodes and waits until they are a cluster.
func (b *Bed) found(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, voteMax, fmt.Errorf("the cluster did not form within %v", voteMax))
	defer cancel()
	hosts := b.Hosts()
	hosts[0].founds = true
	for _, h := range hosts {
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	for _, h := range hosts {
		if err := h.Ready(ctx); err != nil {
			return err
		}
	}
	if err := b.allVote(ctx); err != nil {
		return err
	}
	hosts[0].founded()
	b.options.Logf("%d nodes vote", len(hosts))
	return nil
}

// allVote waits until every host's node counts as many voters as there are
// hosts.
func (b *Bed) allVote(ctx context.Context) error {
	for _, h := range b.Hosts() {
		for {
			status, err := b.Status(ctx, h.name)
			if err == nil && status.Leader != "" && status.Voters() == b.options.Nodes {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s counts %d voters of %d: %w (see %s)", h.name, status.Voters(), b.options.Nodes, context.Cause(ctx), h.LogPath())
			case <-time.After(readyEvery):
			}
		}
	}
	return nil
}

// AddHost makes a fresh host with an empty data directory. Its node is not
// started; once it is, it asks to join.
func (b *Bed) AddHost(ctx context.Context) (*Host, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("add a host: %w", context.Cause(ctx))
	}
	if err := b.enter(); err != nil {
		return nil, fmt.Errorf("add a host: %w", err)
	}
	defer b.leave()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.hosts) + 1
	if n > hostsMax {
		return nil, fmt.Errorf("add a host: there are %d, which is the most", hostsMax)
	}
	h, err := b.newHost(n)
	if err != nil {
		return nil, fmt.Errorf("add a host: %w", err)
	}
	b.hosts = append(b.hosts, h)
	return h, nil
}

// newHost makes the host of that number.
func (b *Bed) newHost(n int) (h *Host, err error) {
	name := fmt.Sprintf("n%d", n)
	h = &Host{bed: b, name: name, node: name}
	if b.net != nil {
		h.place = place{hostAddr(n), portBase}
		h.space, err = b.net.attach(name, h.place.ip)
	} else {
		h.place = place{loopback, b.base + (n-1)*portStride}
		h.space, err = packet.Home()
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(b.options.Dir, name), 0o755); err != nil {
		h.space.Close()
		return nil, err
	}
	return h, nil
}

// Hosts are all hosts in the order of their making.
func (b *Bed) Hosts() []*Host {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts)
}

// Host is the host of that name; nil where there is none.
func (b *Bed) Host(name string) *Host {
	for _, h := range b.Hosts() {
		if h.name == name {
			return h
		}
	}
	return nil
}

// Missing says what was asked for and cannot be had here, a line each.
func (b *Bed) Missing() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.missing)
}

// Can tells whether the bed can do that to its hosts.
func (b *Bed) Can(c Capability) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.can[c]
}

var errBedClosed = errors.New("the bed is closed")

// enter keeps the bed open until leave.
func (b *Bed) enter() error {
	b.life.RLock()
	if b.closed {
		b.life.RUnlock()
		return errBedClosed
	}
	return nil
}

func (b *Bed) leave() { b.life.RUnlock() }

// Close ends every node and takes down all that the bed made; the files stay.
// It may be called again, and whatever context ended.
func (b *Bed) Close() error {
	b.life.Lock()
	defer b.life.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	var errs []error
	for _, h := range b.Hosts() {
		errs = append(errs, h.Kill())
		h.space.Close()
	}
	if b.net != nil {
		errs = append(errs, b.net.close())
	}
	return errors.Join(errs...)
}
