package dapr

import (
	"context"
	"errors"
	"sync"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	proto "github.com/dapr/dapr/pkg/proto/components/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	grpcmd "google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// instanceHeader names the component that a call is for.
const instanceHeader = "x-component-instance"

// storesMax limits the components of one process.
const storesMax = 64

// server serves the protocol of pluggable state stores, for any number of components.
type server struct {
	proto.UnimplementedStateStoreServer
	proto.UnimplementedTransactionalStateStoreServer
	proto.UnimplementedTransactionalStoreMultiMaxSizeServer

	mu     sync.Mutex
	stores map[string]*State // :: name of a component → its store; guarded by mu
}

// component returns the name of the component that a call is for.
func component(ctx context.Context) string {
	if values := grpcmd.ValueFromIncomingContext(ctx, instanceHeader); len(values) > 0 {
		return values[0]
	}
	return ""
}

// store returns the store that a call is for.
func (s *server) store(ctx context.Context) (*State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if store := s.stores[component(ctx)]; store != nil {
		return store, nil
	}
	return nil, status.Errorf(codes.FailedPrecondition, "component %q is not initialized: call Init first", component(ctx))
}

func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, store := range s.stores {
		err = errors.Join(err, store.Close())
	}
	return err
}

// Init connects a component. A daprd that starts again initializes its components again.
func (s *server) Init(ctx context.Context, r *proto.InitRequest) (*proto.InitResponse, error) {
	store := NewState()
	if err := store.Init(ctx, state.Metadata{Base: metadata.Base{Properties: r.GetMetadata().GetProperties()}}); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	s.mu.Lock()
	before := s.stores[component(ctx)]
	full := before == nil && len(s.stores) == storesMax
	if !full {
		s.stores[component(ctx)] = store
	}
	s.mu.Unlock()
	if full {
		return nil, errors.Join(status.Errorf(codes.ResourceExhausted, "this process serves %d components: start another one", storesMax), store.Close())
	}
	if before != nil {
		return &proto.InitResponse{}, before.Close()
	}
	return &proto.InitResponse{}, nil
}

// Features leaves out what the protocol has no call for.
func (s *server) Features(context.Context, *proto.FeaturesRequest) (*proto.FeaturesResponse, error) {
	return &proto.FeaturesResponse{Features: []string{string(state.FeatureETag), string(state.FeatureTransactional), string(state.FeatureTTL)}}, nil
}

func (s *server) Ping(ctx context.Context, _ *proto.PingRequest) (*proto.PingResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return &proto.PingResponse{}, nil //nolint:nilerr // daprd asks before Init whether the process is there
	}
	return &proto.PingResponse{}, store.Ping(ctx)
}

func (s *server) Get(ctx context.Context, r *proto.GetRequest) (*proto.GetResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	got, err := store.Get(ctx, getOf(r))
	if err != nil {
		return nil, statusOf(err)
	}
	return &proto.GetResponse{Data: got.Data, Etag: etagTo(got.ETag), Metadata: got.Metadata, ContentType: textTo(got.ContentType)}, nil
}

func (s *server) Set(ctx context.Context, r *proto.SetRequest) (*proto.SetResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	set := setOf(r)
	return &proto.SetResponse{}, statusOf(store.Set(ctx, &set))
}

func (s *server) Delete(ctx context.Context, r *proto.DeleteRequest) (*proto.DeleteResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	del := removalOf(r)
	return &proto.DeleteResponse{}, statusOf(store.Delete(ctx, &del))
}

func (s *server) BulkGet(ctx context.Context, r *proto.BulkGetRequest) (*proto.BulkGetResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	var requests []state.GetRequest
	for _, one := range r.GetItems() {
		requests = append(requests, *getOf(one))
	}
	got, err := store.BulkGet(ctx, requests, state.BulkGetOpts{Parallelism: int(r.GetOptions().GetParallelism())})
	if err != nil {
		return nil, statusOf(err)
	}
	answer := &proto.BulkGetResponse{}
	for _, one := range got {
		answer.Items = append(answer.Items, &proto.BulkStateItem{
			Key: one.Key, Data: one.Data, Etag: etagTo(one.ETag), Error: one.Error, Metadata: one.Metadata, ContentType: textTo(one.ContentType),
		})
	}
	return answer, nil
}

func (s *server) BulkSet(ctx context.Context, r *proto.BulkSetRequest) (*proto.BulkSetResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	var requests []state.SetRequest
	for _, one := range r.GetItems() {
		requests = append(requests, setOf(one))
	}
	return &proto.BulkSetResponse{}, statusOf(store.BulkSet(ctx, requests, state.BulkStoreOpts{Parallelism: int(r.GetOptions().GetParallelism())}))
}

func (s *server) BulkDelete(ctx context.Context, r *proto.BulkDeleteRequest) (*proto.BulkDeleteResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	var requests []state.DeleteRequest
	for _, one := range r.GetItems() {
		requests = append(requests, removalOf(one))
	}
	return &proto.BulkDeleteResponse{}, statusOf(store.BulkDelete(ctx, requests, state.BulkStoreOpts{Parallelism: int(r.GetOptions().GetParallelism())}))
}

func (s *server) Transact(ctx context.Context, r *proto.TransactionalStateRequest) (*proto.TransactionalStateResponse, error) {
	store, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	request := &state.TransactionalStateRequest{Metadata: r.GetMetadata()}
	for _, operation := range r.GetOperations() {
		switch {
		case operation.GetSet() != nil:
			request.Operations = append(request.Operations, setOf(operation.GetSet()))
		case operation.GetDelete() != nil:
			request.Operations = append(request.Operations, removalOf(operation.GetDelete()))
		default:
			return nil, status.Error(codes.InvalidArgument, "an operation of the transaction is neither a set nor a delete")
		}
	}
	return &proto.TransactionalStateResponse{}, statusOf(store.Multi(ctx, request))
}

func (s *server) MultiMaxSize(context.Context, *proto.MultiMaxSizeRequest) (*proto.MultiMaxSizeResponse, error) {
	return &proto.MultiMaxSizeResponse{MaxSize: int64((&State{}).MultiMaxSize())}, nil
}

// statusOf returns err as the protocol wants it: daprd recognizes errors of etags by the
// code and one detail.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	var etag *state.ETagError
	if !errors.As(err, &etag) {
		return status.Error(codes.Unknown, err.Error())
	}
	s, detailErr := status.New(codes.FailedPrecondition, err.Error()).WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "etag", Description: etag.Error()}},
	})
	if detailErr != nil {
		return errors.Join(err, detailErr)
	}
	return s.Err()
}
