package dormouse

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/bench/load"
	"dormouse/client"
)

// Driver uses clients of the Go library.
type Driver struct {
	clients []*client.Client
	next    atomic.Uint64 // selects the client of a call
}

var _ load.Driver = (*Driver)(nil)

// Options are the options of a Driver.
type Options struct {
	Endpoints []string
	Clients   int
	Fixed     bool   // all clients use only the first endpoint
	Spread    bool   // each client keeps to another endpoint, as clients do by default; otherwise all prefer the leader
	CAFile    string // verifies the nodes; "" means no TLS
	TokenFile string // holds the token of the clients; "" means none
	Scope     string // of all agents; "" means the scope of benchmarks
}

// Dial returns a Driver.
func Dial(o Options) (*Driver, error) {
	to := client.Options{Endpoints: o.Endpoints, Scope: cmp.Or(o.Scope, scope), PreferLeader: !o.Fixed && !o.Spread, Fixed: o.Fixed}
	if o.TokenFile != "" {
		token, err := os.ReadFile(o.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		to.Token = strings.TrimSpace(string(token))
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authority: %w", err)
		}
		to.TLS = &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool()}
		if !to.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", o.CAFile)
		}
	}
	d := &Driver{}
	for i := range o.Clients {
		if o.Spread {
			at := i % len(o.Endpoints)
			to.Endpoints = slices.Concat(o.Endpoints[at:], o.Endpoints[:at])
		}
		c, err := client.Dial(to)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.clients = append(d.clients, c)
	}
	return d, nil
}

// Limit limits the requests a second of the driver's scope on each node.
func (d *Driver) Limit(ctx context.Context, requests uint64) error {
	_, err := d.client().PutScope(ctx, agent.Policy{RequestsPerSecond: requests})
	return err
}

// client returns the client of the next call.
func (d *Driver) client() *client.Client {
	if len(d.clients) == 1 {
		return d.clients[0]
	}
	return d.clients[d.next.Add(1)%uint64(len(d.clients))]
}

// Put implements load.Driver.
func (d *Driver) Put(ctx context.Context, key string, checkpoint []byte) error {
	_, err := d.client().PutCheckpoint(ctx, agent.PutCheckpoint{Key: key, State: checkpoint})
	return err
}

// Get implements load.Driver.
func (d *Driver) Get(ctx context.Context, key string) ([]byte, error) {
	c, err := d.client().GetCheckpoint(ctx, key)
	if err != nil {
		return nil, err
	}
	return c.State, nil
}

// Append implements load.Driver.
func (d *Driver) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	r, err := d.client().Append(ctx, appendTo(t, entries))
	if err != nil {
		return err
	}
	t.Rev = r.Thread.Rev
	return nil
}

// Turn implements load.Driver.
func (d *Driver) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	rev := t.Rev + uint64(len(entries))
	add := appendTo(t, entries)
	_, err := d.client().Commit(ctx, agent.Commit{Ops: []agent.Op{
		&add,
		&agent.PutCheckpoint{Key: t.ID, State: checkpoint, Thread: &agent.Pointer{Thread: t.ID, Rev: rev}},
	}})
	if err != nil {
		return err
	}
	t.Rev = rev
	return nil
}

func appendTo(t *load.Thread, entries [][]byte) agent.AppendThread {
	drafts := make([]agent.Draft, len(entries))
	for i, e := range entries {
		drafts[i] = agent.Draft{Kind: agent.KindMessage, Payload: e}
	}
	return agent.AppendThread{Thread: t.ID, ExpectedRev: &t.Rev, Entries: drafts}
}

// Thaw implements load.Driver.
func (d *Driver) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	t, err := d.client().ThawTail(ctx, key, uint64(tail))
	if err != nil {
		return nil, 0, err
	}
	return t.Checkpoint.State, len(t.Entries), nil
}

// Look implements load.Driver.
func (d *Driver) Look(ctx context.Context, t *load.Thread) error {
	got, err := d.client().GetThread(ctx, t.ID)
	switch {
	case agent.CodeOf(err) == agent.CodeNotFound:
		t.Rev = 0
		return nil
	case err != nil:
		return fmt.Errorf("read thread %s: %w", t.ID, err)
	}
	t.Rev = got.Rev
	return nil
}

// Close implements load.Driver.
func (d *Driver) Close() error {
	var errs []error
	for _, c := range d.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
