package dapr

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/dapr/components-contrib/health"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	"github.com/dapr/components-contrib/state/utils"

	"dormouse/sdk/go/agent"
	"dormouse/sdk/go/client"
)

// State is a state store. Its methods may be called concurrently after Init.
//
// All reads and writes are linearizable, whatever consistency a request asks for.
type State struct {
	state.BulkStore // writes of many keys: one commit each, at a time
	client          *client.Client
}

var (
	_ state.Store                          = (*State)(nil)
	_ state.TransactionalStore             = (*State)(nil)
	_ state.TransactionalStoreMultiMaxSize = (*State)(nil)
	_ state.DeleteWithPrefix               = (*State)(nil)
	_ health.Pinger                        = (*State)(nil)
	_ io.Closer                            = (*State)(nil)
)

// NewState returns a state store that Init connects.
func NewState() *State {
	s := new(State)
	s.BulkStore = state.NewDefaultBulkStore(s)
	return s
}

// Init connects to the cluster that the metadata names.
func (s *State) Init(_ context.Context, meta state.Metadata) (err error) {
	s.client, err = connect(meta.Properties)
	return err
}

// Close closes the connections.
func (s *State) Close() error {
	if s.client == nil {
		return nil
	}
	return s.client.Close()
}

// GetComponentMetadata describes the metadata of the component.
func (s *State) GetComponentMetadata() metadata.MetadataMap { return describe(metadata.StateStoreType) }

// Features lists what the store supports. Queries are not among it.
func (s *State) Features() []state.Feature {
	return []state.Feature{state.FeatureETag, state.FeatureTransactional, state.FeatureTTL, state.FeatureDeleteWithPrefix}
}

// Ping reports whether the cluster answers.
func (s *State) Ping(ctx context.Context) error {
	_, err := s.client.ListValues(ctx, agent.Page{Limit: 1})
	return err
}

// Get reads a key. The response is empty if it does not exist.
func (s *State) Get(ctx context.Context, req *state.GetRequest) (*state.GetResponse, error) {
	if err := state.CheckRequestOptions(req.Options); err != nil {
		return nil, err
	}
	v, err := s.client.GetValue(ctx, req.Key)
	switch {
	case agent.CodeOf(err) == agent.CodeNotFound:
		return &state.GetResponse{}, nil
	case err != nil:
		return nil, fmt.Errorf("get %s: %w", req.Key, err)
	}
	r := &state.GetResponse{Data: v.Bytes, ETag: etagOf(v.Incarnation, v.Revision), Metadata: expiryOf(v)}
	if r.Data == nil {
		r.Data = []byte{} // nil means that the key does not exist
	}
	if v.ContentType != "" {
		r.ContentType = &v.ContentType
	}
	return r, nil
}

// expiryOf returns the metadata of a response that says when the value expires.
func expiryOf(v *agent.Value) map[string]string {
	if v.ExpiresAt == 0 {
		return nil
	}
	return map[string]string{state.GetRespMetaKeyTTLExpireTime: time.UnixMilli(v.ExpiresAt).UTC().Format(time.RFC3339)}
}

// Set writes a key.
func (s *State) Set(ctx context.Context, req *state.SetRequest) error {
	put, err := putOf(req)
	if err != nil {
		return err
	}
	_, err = s.client.PutValue(ctx, *put)
	return outward("set", req.Key, err)
}

// putOf returns the op of a write.
func putOf(req *state.SetRequest) (*agent.PutValue, error) {
	if err := state.CheckRequestOptions(req.Options); err != nil {
		return nil, err
	}
	put := &agent.PutValue{Key: req.Key}
	var err error
	if put.Bytes, err = utils.Marshal(req.Value, json.Marshal); err != nil {
		return nil, fmt.Errorf("set %s: encode the value: %w", req.Key, err)
	}
	if req.ContentType != nil {
		put.ContentType = *req.ContentType
	}
	if text := req.Metadata["ttlInSeconds"]; text != "" {
		const most = int(agent.TTLMax / time.Second)
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds > most {
			return nil, fmt.Errorf("set %s: ttlInSeconds is %q: give a number to %d, or -1 for none", req.Key, text, most)
		}
		put.TTL = time.Duration(max(seconds, 0)) * time.Second
	}
	put.IfRevision, put.IfIncarnation, err = conditionOf(req.Key, req.ETag, req.Options.Concurrency)
	return put, err
}

// Delete deletes a key. It succeeds if the key does not exist, unless an etag is given.
func (s *State) Delete(ctx context.Context, req *state.DeleteRequest) error {
	del, err := deleteOf(req)
	if err != nil {
		return err
	}
	_, err = s.client.DeleteValue(ctx, *del)
	return outward("delete", req.Key, err)
}

// deleteOf returns the op of a delete.
func deleteOf(req *state.DeleteRequest) (*agent.DeleteValue, error) {
	if err := state.CheckRequestOptions(req.Options); err != nil {
		return nil, err
	}
	del := &agent.DeleteValue{Key: req.Key}
	var err error
	del.IfRevision, del.IfIncarnation, err = conditionOf(req.Key, req.ETag, req.Options.Concurrency)
	return del, err
}
