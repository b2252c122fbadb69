package dapr_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/components-contrib/state"
	"github.com/dapr/dapr/pkg/components/pluggable"
	components "github.com/dapr/dapr/pkg/components/state"
	proto "github.com/dapr/dapr/pkg/proto/components/v1"
	"github.com/dapr/kit/logger"
	"google.golang.org/grpc/codes"
	grpcmd "google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"dormouse/adapters/go/dapr"
)

// listen serves a socket in a directory of components, as the command does.
func listen(t *testing.T) (directory, socket string) {
	t.Helper()
	directory, err := os.MkdirTemp("", "dapr") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	socket = filepath.Join(directory, "dormouse.sock")
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- dapr.Serve(ctx, socket) }()
	closed(t, func() error { stop(); return <-served })
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the component does not listen")
		}
	}
	return directory, socket
}

// serve returns the store that daprd makes of a component.
func serve(t *testing.T) state.Store {
	t.Helper()
	directory, _ := listen(t)
	t.Setenv(pluggable.SocketFolderEnvVar, directory)
	if err := pluggable.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, err := components.DefaultRegistry.Create("state.dormouse", "v1", "test")
	if err != nil {
		t.Fatal(err)
	}
	closed(t, store.(interface{ Close() error }).Close)
	return store
}

// overSocket is daprd's store without the feature whose tests need errors that its
// protocol does not carry: which keys of a bulk failed.
type overSocket struct{ state.Store }

func (o overSocket) Features() []state.Feature { return less(o.Store.Features(), state.FeatureETag) }

func (o overSocket) Multi(ctx context.Context, r *state.TransactionalStateRequest) error {
	return o.Store.(state.TransactionalStore).Multi(ctx, r)
}

func TestConformanceOfThePluggableComponent(t *testing.T) {
	components.DefaultRegistry.Logger = logger.NewLogger("test")
	conform(t, overSocket{serve(t)}, "transaction", "first-write", "ttl")
}

func TestDaprdSeesAMismatchOfEtags(t *testing.T) {
	components.DefaultRegistry.Logger = logger.NewLogger("test")
	s := serve(t)
	if err := s.Init(t.Context(), state.Metadata{Base: metadata.Base{Name: "store", Properties: inScope()}}); err != nil {
		t.Fatal(err)
	}
	if err := set(t, s, "k", "1", nil); err != nil {
		t.Fatal(err)
	}
	stale := get(t, s, "k").ETag
	if err := set(t, s, "k", "2", stale); err != nil {
		t.Fatal(err)
	}
	if err := set(t, s, "k", "lost", stale); !isMismatch(err) {
		t.Errorf("a set: %v", err)
	}
	if err := s.Delete(t.Context(), &state.DeleteRequest{Key: "k", ETag: stale}); !isMismatch(err) {
		t.Errorf("a delete: %v", err)
	}
	if err := s.BulkSet(t.Context(), []state.SetRequest{{Key: "k", Value: []byte("lost"), ETag: stale}}, state.BulkStoreOpts{}); !isMismatch(err) {
		t.Errorf("a bulk: %v", err)
	}
	if r := get(t, s, "k"); string(r.Data) != "2" {
		t.Errorf("the value is %q", r.Data)
	}
	if n := s.(state.TransactionalStoreMultiMaxSize).MultiMaxSize(); n != dapr.NewState().MultiMaxSize() {
		t.Errorf("a transaction may have %d operations", n)
	}
}

func TestAProcessServesABoundedNumberOfComponents(t *testing.T) {
	_, socket := listen(t)
	conn, err := pluggable.SocketDial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, conn.Close)
	c := proto.NewStateStoreClient(conn)
	initialize := func(name string) error {
		ctx := grpcmd.AppendToOutgoingContext(t.Context(), "x-component-instance", name)
		_, err := c.Init(ctx, &proto.InitRequest{Metadata: &proto.MetadataRequest{Properties: inScope()}})
		return err
	}
	for i := range 64 {
		if err := initialize(fmt.Sprint(i)); err != nil {
			t.Fatalf("component %d: %v", i, err)
		}
	}
	if err := initialize("one too many"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one too many: %v", err)
	}
	if err := initialize("0"); err != nil { // daprd has started again
		t.Errorf("a component again: %v", err)
	}
	if _, err := c.Get(t.Context(), &proto.GetRequest{Key: "k"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a component without Init: %v", err)
	}
}

func TestASocketOfOthersIsNotTaken(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dapr.Serve(t.Context(), file); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file: %v", err)
	}
}
