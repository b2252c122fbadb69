package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"dormouse/bench/load"
)

// etcd implements load.Driver for etcd. It stores a checkpoint under c/KEY, a thread's
// entries under e/THREAD/SEQ, and its rev under m/THREAD. An append compares the mod
// revision of m/THREAD.
type etcd struct {
	clients []*clientv3.Client
	next    atomic.Uint64 // selects the client of a call
}

func dialEtcd(endpoints []string, clients int) (*etcd, error) {
	d := &etcd{}
	for range clients {
		c, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dial etcd: %w", err), d.Close())
		}
		d.clients = append(d.clients, c)
	}
	return d, nil
}

// dialEtcdLeader returns a driver that calls only the node that leads now.
func dialEtcdLeader(ctx context.Context, endpoints []string, clients int) (*etcd, error) {
	all, err := dialEtcd(endpoints, 1)
	if err != nil {
		return nil, err
	}
	leader, err := all.leader(ctx, endpoints)
	if err := errors.Join(err, all.Close()); err != nil {
		return nil, err
	}
	return dialEtcd(endpoints[leader:leader+1], clients)
}

func (d *etcd) client() *clientv3.Client { return d.clients[d.next.Add(1)%uint64(len(d.clients))] }

// Put implements load.Driver.
func (d *etcd) Put(ctx context.Context, key string, checkpoint []byte) error {
	_, err := d.client().Put(ctx, "c/"+key, string(checkpoint))
	return err
}

// Get implements load.Driver.
func (d *etcd) Get(ctx context.Context, key string) ([]byte, error) {
	r, err := d.client().Get(ctx, "c/"+key) // linearizable by default
	if err != nil {
		return nil, err
	}
	if len(r.Kvs) == 0 {
		return nil, fmt.Errorf("etcd has no %s", key)
	}
	return r.Kvs[0].Value, nil
}

// Append implements load.Driver.
func (d *etcd) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	return d.commit(ctx, t, entries)
}

// Turn implements load.Driver.
func (d *etcd) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	return d.commit(ctx, t, entries, clientv3.OpPut("c/"+t.ID, string(checkpoint)))
}

// commit appends in one Txn, together with the ops in more.
func (d *etcd) commit(ctx context.Context, t *load.Thread, entries [][]byte, more ...clientv3.Op) error {
	rev := t.Rev
	ops := more
	for _, e := range entries {
		ops = append(ops, clientv3.OpPut(entryKey(t.ID, rev), string(e)))
		rev++
	}
	meta := "m/" + t.ID
	ops = append(ops, clientv3.OpPut(meta, string(binary.BigEndian.AppendUint64(nil, rev))))
	r, err := d.client().Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(meta), "=", t.Token)).Then(ops...).Commit()
	if err != nil {
		return err
	}
	if !r.Succeeded {
		return fmt.Errorf("etcd: thread %s is not at %d", t.ID, t.Rev)
	}
	t.Rev, t.Token = rev, r.Header.Revision
	return nil
}

func entryKey(thread string, seq uint64) string { return fmt.Sprintf("e/%s/%016x", thread, seq) }

// Thaw implements load.Driver.
func (d *etcd) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	from := entryKey(key, 0)
	r, err := d.client().Txn(ctx).Then(
		clientv3.OpGet("c/"+key),
		clientv3.OpGet(from, clientv3.WithRange(clientv3.GetPrefixRangeEnd("e/"+key+"/")),
			clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend), clientv3.WithLimit(int64(tail))),
	).Commit()
	if err != nil {
		return nil, 0, err
	}
	checkpoint, entries := r.Responses[0].GetResponseRange().Kvs, r.Responses[1].GetResponseRange().Kvs
	if len(checkpoint) == 0 {
		return nil, 0, fmt.Errorf("etcd has no %s", key)
	}
	return checkpoint[0].Value, len(entries), nil
}

// Look implements load.Driver.
func (d *etcd) Look(ctx context.Context, t *load.Thread) error {
	r, err := d.client().Get(ctx, "m/"+t.ID)
	if err != nil {
		return err
	}
	if len(r.Kvs) > 0 {
		t.Rev, t.Token = binary.BigEndian.Uint64(r.Kvs[0].Value), r.Kvs[0].ModRevision
	}
	return nil
}

// Close implements load.Driver.
func (d *etcd) Close() error {
	var errs []error
	for _, c := range d.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// leader returns the number of the endpoint that leads, from 0.
func (d *etcd) leader(ctx context.Context, endpoints []string) (int, error) {
	for i, endpoint := range endpoints {
		status, err := d.client().Status(ctx, endpoint)
		if err == nil && status.Leader == status.Header.MemberId {
			return i, nil
		}
	}
	return 0, errors.New("no node of etcd reports that it is the leader")
}
