package dormouse

import (
	"context"
	"errors"
	"fmt"
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

// Dial returns a Driver with the given number of clients. If fixed is set they use
// only the first endpoint; otherwise each prefers the leader.
func Dial(endpoints []string, clients int, fixed bool) (*Driver, error) {
	return DialScope(endpoints, clients, fixed, scope)
}

// DialScope is Dial for agents of a scope.
func DialScope(endpoints []string, clients int, fixed bool, scope string) (*Driver, error) {
	d := &Driver{}
	for range clients {
		o := client.Options{Endpoints: endpoints, Scope: scope, PreferLeader: !fixed, Fixed: fixed}
		c, err := client.Dial(o)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.clients = append(d.clients, c)
	}
	return d, nil
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
