package dapr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	proto "github.com/dapr/dapr/pkg/proto/components/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"dormouse/sdk/go/agent"
)

// stopTime is how long Serve waits for calls when its context ends.
const stopTime = 5 * time.Second

// messageBytesMax limits a message from daprd: a transaction, or a bulk of values.
const messageBytesMax = agent.CommitBytesMax + 1<<20

// Serve serves state stores on a Unix socket, as a pluggable component of Dapr, until ctx
// ends. daprd finds the sockets in its directory of components, and takes the name of the
// socket's file without its extension for the name of the component: state.NAME. Each
// component that daprd loads is a store of its own, with its own metadata.
func Serve(ctx context.Context, socket string) error {
	if err := removeStale(socket); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", socket, err)
	}
	s := &server{stores: make(map[string]*State)}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(messageBytesMax), grpc.MaxSendMsgSize(messageBytesMax))
	proto.RegisterStateStoreServer(g, s)
	proto.RegisterTransactionalStateStoreServer(g, s)
	proto.RegisterTransactionalStoreMultiMaxSizeServer(g, s)
	reflection.Register(g) // daprd asks which services there are
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		late := time.AfterFunc(stopTime, g.Stop)
		g.GracefulStop()
		late.Stop()
		err = <-served
	}
	return errors.Join(err, s.close())
}

// removeStale removes a socket that nothing listens on, which an earlier process left.
func removeStale(socket string) error {
	found, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case found.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is not a socket: name another path", socket)
	}
	if c, err := net.DialTimeout("unix", socket, time.Second); err == nil {
		_ = c.Close()
		return fmt.Errorf("another process listens on %s: end it, or name another path", socket)
	}
	return os.Remove(socket)
}
