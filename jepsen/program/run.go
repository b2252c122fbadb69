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

// Options are the options of a program.
type Options struct {
	Name    string        // name in the cluster
	Join    []string      // peer addresses of nodes
	Key     string        // the host key, if KeyFile is ""
	KeyFile string        // file of the host key
	Listen  string        // its own peer address
	HTTP    string        // address of /readyz, which reports whether the program has joined
	Handler string        // name of the handler of the counters
	Lease   time.Duration // its lease: it loses its partitions when the cluster has not heard from it for that long; 0 means a host's default
	Logs    io.Writer
}

// headerMax bounds the time to read the header of an HTTP request.
const headerMax = time.Second

// Run joins the cluster, takes part until ctx ends, and then leaves in order. The
// error says why the cluster refused it, or what failed.
func Run(ctx context.Context, o Options) error {
	h, err := host.Open(ctx, host.Options{
		Name: o.Name, Join: o.Join, Key: o.Key, KeyFile: o.KeyFile, Listen: o.Listen, LeaseTTL: o.Lease,
		Instance: instance.Options{Handlers: handlers(o.Handler)},
		Logger:   hclog.New(&hclog.LoggerOptions{Name: o.Name, Output: o.Logs}),
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped while it looked for a node
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
	defer web.Close() //nolint:errcheck // no probe is expected any more
	return <-ended
}

// listen serves /readyz.
func listen(ctx context.Context, addr string, joined <-chan struct{}) (*http.Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for readiness probes: %w", err)
	}
	web := &http.Server{ReadHeaderTimeout: headerMax, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-joined:
		default:
			http.Error(w, "the program has not joined yet", http.StatusServiceUnavailable)
		}
	})}
	go func() { _ = web.Serve(l) }() // until Close
	return web, nil
}
