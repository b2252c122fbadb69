package testbed

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Bed is a cluster on hosts that the harness creates. All methods may be called
// concurrently. Nothing starts on a closed Bed.
type Bed struct {
	options   Options
	binary    string
	ctl       string         // path of dormctl; "" if there is none
	base      int            // first port on loopback
	net       *Net           // nil if hosts share loopback
	token     string         // the cluster's root token
	authority *x509.CertPool // of the nodes' certificates
	missing   []string       // missing and can are set by Open
	can       map[Capability]bool

	adding sync.Mutex // held while a host is created
	mu     sync.Mutex
	hosts  []*Host // guarded by mu; it only grows

	life   sync.RWMutex // read-held by operations that Close must wait for
	closed bool         // guarded by life
}

// voteMax bounds the time until all nodes of a new cluster vote.
const voteMax = 60 * time.Second

// Open creates the hosts, starts their nodes, which found a cluster together, and
// waits until all nodes vote.
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
	b.survey()
	if b.binary, err = b.build(ctx); err != nil {
		return nil, err
	}
	b.findCommand(ctx)
	if err := b.writeKeys(); err != nil {
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

// found starts the nodes and waits until they have formed a cluster.
func (b *Bed) found(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, voteMax, fmt.Errorf("the cluster did not form within %v", voteMax))
	defer cancel()
	hosts := b.Hosts()
	if err := start(ctx, hosts); err != nil {
		return err
	}
	if err := ready(ctx, hosts); err != nil {
		return err
	}
	if err := b.allVote(ctx); err != nil {
		return err
	}
	b.checkClock(hosts[0])
	b.options.Logf("%d nodes vote", len(hosts))
	return b.accompany(ctx)
}

// allVote waits until every node counts as many voters as the cluster has nodes.
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

// AddHost adds a host with an empty data directory. It does not start the node; once
// started, the node asks to join.
func (b *Bed) AddHost(ctx context.Context) (*Host, error) { return b.addHost(ctx, nil) }

// addHost adds a host for a node, or for a program if program is not nil.
func (b *Bed) addHost(ctx context.Context, program []string) (*Host, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("add a host: %w", context.Cause(ctx))
	}
	if err := b.enter(); err != nil {
		return nil, fmt.Errorf("add a host: %w", err)
	}
	defer b.leave()
	b.adding.Lock()
	defer b.adding.Unlock()
	n := len(b.all()) + 1
	if n > hostsMax {
		return nil, fmt.Errorf("add a host: the maximum of %d hosts is reached", hostsMax)
	}
	h, err := b.newHost(ctx, n, program)
	if err != nil {
		return nil, fmt.Errorf("add a host: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hosts = append(b.hosts, h)
	return h, nil
}

// Hosts returns all hosts of nodes, in the order of their creation.
func (b *Bed) Hosts() []*Host {
	return slices.DeleteFunc(b.all(), func(h *Host) bool { return h.program != nil })
}

// all returns the hosts of nodes and programs.
func (b *Bed) all() []*Host {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hosts)
}

// Host returns the host of that name, or nil.
func (b *Bed) Host(name string) *Host {
	for _, h := range b.all() {
		if h.name == name {
			return h
		}
	}
	return nil
}

// Missing returns the requested capabilities that this machine lacks, a line each.
func (b *Bed) Missing() []string { return slices.Clone(b.missing) }

// Can reports whether the testbed has a capability.
func (b *Bed) Can(c Capability) bool { return b.can[c] }

var errBedClosed = errors.New("the testbed is closed")

// enter keeps the testbed open until leave.
func (b *Bed) enter() error {
	b.life.RLock()
	if b.closed {
		b.life.RUnlock()
		return errBedClosed
	}
	return nil
}

func (b *Bed) leave() { b.life.RUnlock() }

// Close ends every node and removes everything that the testbed created, except files.
// It may be called more than once, and works after a context has ended.
func (b *Bed) Close() error {
	b.life.Lock()
	defer b.life.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	var errs []error
	hosts := b.all()
	for _, h := range hosts {
		if p := h.current(); p != nil {
			errs = append(errs, p.signal(syscall.SIGKILL)) // all at once, so that no node notices that others are gone
		}
	}
	for _, h := range hosts {
		errs = append(errs, h.Kill(), h.dismantle())
	}
	if b.net != nil {
		errs = append(errs, b.net.close())
	}
	return errors.Join(errs...)
}
