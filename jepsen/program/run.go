package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/host"
	"dormouse/instance"
)

// Options say what a program is told.
type Options struct {
	Name    string        // in the cluster
	Join    []string      // peer addresses of nodes
	Listen  string        // its own
	HTTP    string        // where it says at /readyz whether it has joined
	Handler string        // the name under which it has the counters' handler
	Lease   time.Duration // it keeps what it owns for so long though nobody hears from it; 0 means a host's default
	Logs    io.Writer
}

// headerMax bounds how long a question may take to arrive.
const headerMax = time.Second

// Run takes part in the cluster until ctx ends, and then leaves in order. The
// error says why the cluster would not have it, or what failed.
func Run(ctx context.Context, o Options) error {
	h, err := host.Open(ctx, host.Options{
		Name: o.Name, Join: o.Join, Listen: o.Listen, Insecure: true, LeaseTTL: o.Lease,
		Instance: instance.Options{Handlers: handlers(o.Handler)},
		Logger:   hclog.New(&hclog.LoggerOptions{Name: o.Name, Output: o.Logs}),
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil // it was stopped while it looked for a node
		}
		return err
	}
	life, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- h.Run(life) }()
	web, err := listen(ctx, o.HTTP, h.Ready())
	if err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	defer web.Close() //nolint:errcheck // nobody asks any more
	return <-ended
}

// listen serves /readyz.
func listen(ctx context.Context, addr string, joined <-chan struct{}) (*http.Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for who asks whether the program is ready: %w", err)
	}
	web := &http.Server{ReadHeaderTimeout: headerMax, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-joined:
		default:
			http.Error(w, "it has not joined yet", http.StatusServiceUnavailable)
		}
	})}
	go func() { _ = web.Serve(l) }() // until Close
	return web, nil
}
