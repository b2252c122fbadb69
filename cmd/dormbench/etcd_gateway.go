package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"dormouse/bench/jsonhttp"
	"dormouse/bench/load"
)

// etcdGateway implements load.Driver for etcd's JSON gateway, which takes keys and values in
// base64 and numbers of 64 bits as text. It stores what etcd does.
type etcdGateway struct{ web *jsonhttp.Client }

var _ load.Driver = (*etcdGateway)(nil)

func dialEtcdGateway(endpoints []string) *etcdGateway {
	return &etcdGateway{jsonhttp.New(endpoints, false, nil)}
}

// The messages of the gateway, as far as they are used. Bytes are written in base64.
type (
	gatewayPut struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	gatewayRange struct {
		Key        []byte `json:"key"`
		RangeEnd   []byte `json:"range_end,omitempty"`
		Limit      int    `json:"limit,omitzero"`
		SortOrder  string `json:"sort_order,omitempty"`
		SortTarget string `json:"sort_target,omitempty"`
	}
	gatewayOp struct {
		Put   *gatewayPut   `json:"request_put,omitempty"`
		Range *gatewayRange `json:"request_range,omitempty"`
	}
	gatewayCompare struct {
		Key         []byte `json:"key"`
		Target      string `json:"target"`
		Result      string `json:"result"`
		ModRevision string `json:"mod_revision"`
	}
	gatewayTxn struct {
		Compare []gatewayCompare `json:"compare,omitempty"`
		Success []gatewayOp      `json:"success"`
	}
	gatewayHeader struct {
		Revision string `json:"revision"`
	}
	gatewayKVs struct {
		KVs []struct {
			Value       []byte `json:"value"`
			ModRevision string `json:"mod_revision"`
		} `json:"kvs"`
	}
	gatewayResult struct {
		Header    gatewayHeader `json:"header"`
		Succeeded bool          `json:"succeeded"`
		Responses []struct {
			Range gatewayKVs `json:"response_range"`
		} `json:"responses"`
	}
)

func (d *etcdGateway) post(ctx context.Context, path string, body, into any) error {
	return d.web.Call(ctx, http.MethodPost, path, body, into)
}

// Put implements load.Driver.
func (d *etcdGateway) Put(ctx context.Context, key string, checkpoint []byte) error {
	return d.post(ctx, "/v3/kv/put", gatewayPut{[]byte("c/" + key), checkpoint}, nil)
}

// Get implements load.Driver. A range is linearizable by default.
func (d *etcdGateway) Get(ctx context.Context, key string) ([]byte, error) {
	var found gatewayKVs
	if err := d.post(ctx, "/v3/kv/range", gatewayRange{Key: []byte("c/" + key)}, &found); err != nil {
		return nil, err
	}
	if len(found.KVs) == 0 {
		return nil, fmt.Errorf("etcd has no %s", key)
	}
	return found.KVs[0].Value, nil
}

// Append implements load.Driver.
func (d *etcdGateway) Append(ctx context.Context, t *load.Thread, entries ...[]byte) error {
	return d.commit(ctx, t, entries)
}

// Turn implements load.Driver.
func (d *etcdGateway) Turn(ctx context.Context, t *load.Thread, checkpoint []byte, entries ...[]byte) error {
	return d.commit(ctx, t, entries, gatewayOp{Put: &gatewayPut{[]byte("c/" + t.ID), checkpoint}})
}

// commit appends in one Txn, together with the ops in more.
func (d *etcdGateway) commit(ctx context.Context, t *load.Thread, entries [][]byte, more ...gatewayOp) error {
	rev, ops := t.Rev, more
	for _, e := range entries {
		ops = append(ops, gatewayOp{Put: &gatewayPut{[]byte(entryKey(t.ID, rev)), e}})
		rev++
	}
	meta := []byte("m/" + t.ID)
	ops = append(ops, gatewayOp{Put: &gatewayPut{meta, binary.BigEndian.AppendUint64(nil, rev)}})
	txn := gatewayTxn{
		Compare: []gatewayCompare{{Key: meta, Target: "MOD", Result: "EQUAL", ModRevision: strconv.FormatInt(t.Token, 10)}},
		Success: ops,
	}
	var result gatewayResult
	if err := d.post(ctx, "/v3/kv/txn", txn, &result); err != nil {
		return err
	}
	if !result.Succeeded {
		return fmt.Errorf("etcd: thread %s is not at %d", t.ID, t.Rev)
	}
	revision, err := strconv.ParseInt(result.Header.Revision, 10, 64)
	if err != nil {
		return fmt.Errorf("etcd's revision: %w", err)
	}
	t.Rev, t.Token = rev, revision
	return nil
}

// Thaw implements load.Driver.
func (d *etcdGateway) Thaw(ctx context.Context, key string, tail int) ([]byte, int, error) {
	var result gatewayResult
	err := d.post(ctx, "/v3/kv/txn", gatewayTxn{Success: []gatewayOp{
		{Range: &gatewayRange{Key: []byte("c/" + key)}},
		{Range: &gatewayRange{
			Key: []byte(entryKey(key, 0)), RangeEnd: []byte(clientv3.GetPrefixRangeEnd("e/" + key + "/")),
			Limit: tail, SortOrder: "DESCEND", SortTarget: "KEY",
		}},
	}}, &result)
	if err != nil {
		return nil, 0, err
	}
	if len(result.Responses) != 2 || len(result.Responses[0].Range.KVs) == 0 {
		return nil, 0, fmt.Errorf("etcd has no %s", key)
	}
	return result.Responses[0].Range.KVs[0].Value, len(result.Responses[1].Range.KVs), nil
}

// Look implements load.Driver.
func (d *etcdGateway) Look(ctx context.Context, t *load.Thread) error {
	var found gatewayKVs
	if err := d.post(ctx, "/v3/kv/range", gatewayRange{Key: []byte("m/" + t.ID)}, &found); err != nil {
		return err
	}
	if len(found.KVs) == 0 {
		return nil
	}
	revision, err := strconv.ParseInt(found.KVs[0].ModRevision, 10, 64)
	if err != nil || len(found.KVs[0].Value) != 8 {
		return fmt.Errorf("etcd's meta of thread %s has revision %q and value %x", t.ID, found.KVs[0].ModRevision, found.KVs[0].Value)
	}
	t.Rev, t.Token = binary.BigEndian.Uint64(found.KVs[0].Value), revision
	return nil
}

// Close implements load.Driver.
func (d *etcdGateway) Close() error { return d.web.Close() }
