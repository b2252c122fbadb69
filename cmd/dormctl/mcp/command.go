package mcp

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 5 * time.Second
)

// flags are the flags of the command.
type flags struct {
	listen, certFile, keyFile string
	tokens                    bool
}

// Command returns the command mcp.
func Command(a *kit.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve memories, threads and sessions over the Model Context Protocol", Args: cli.Exactly(),
		Long: `mcp serves the scope over the Model Context Protocol: on stdin and stdout, or with
--listen over streamable HTTP at /mcp.

Over stdio, and on loopback without --tokens, it acts with dormctl's own token. With --tokens each
caller gives a token of the cluster as its bearer token, and has that token's rights. Off loopback,
--tokens and a certificate are required.

The state of HTTP sessions is kept in the scope, in threads and values whose ids begin with mcp/,
for 24 hours: clients resume on any other process that serves the scope.`,
		Example: `  dormctl mcp --scope acme
  dormctl mcp --listen 127.0.0.1:7605 --tokens`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				if f.listen == "" {
					return serveStdio(ctx, store{s, a.Scope})
				}
				return f.serveHTTP(ctx, a, store{s, a.Scope})
			})
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "", "address to serve streamable HTTP on, such as 127.0.0.1:7605 (default: stdin and stdout)")
	cmd.Flags().BoolVar(&f.tokens, "tokens", false, "ask each caller for a token of the cluster, and act with its rights")
	cmd.Flags().StringVar(&f.certFile, "cert-file", "", "PEM file of the certificate to serve TLS with")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "PEM file of its key")
	return cmd
}

// check refuses flags that do not go together.
func (f *flags) check() error {
	switch {
	case f.listen == "" && (f.tokens || f.certFile != "" || f.keyFile != ""):
		return cli.Usagef("--tokens, --cert-file and --key-file are for --listen")
	case f.listen == "":
		return nil
	case (f.certFile == "") != (f.keyFile == ""):
		return cli.Usagef("--cert-file and --key-file go together: give both or neither")
	}
	at, err := netip.ParseAddrPort(f.listen)
	if err != nil {
		return cli.Usagef("--listen: %w: give an IP address and a port, such as 127.0.0.1:7605", err)
	}
	if !at.Addr().IsLoopback() && (!f.tokens || f.certFile == "") {
		return cli.Usagef("--listen %s: off loopback, use --tokens, --cert-file and --key-file", f.listen)
	}
	return nil
}

func serveStdio(ctx context.Context, s store) error {
	err := newServer(backgroundOf(ctx), s, rand.Text).Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// serveHTTP serves until ctx ends.
func (f *flags) serveHTTP(ctx context.Context, a *kit.App, s store) error {
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	scheme := "http"
	if f.certFile != "" {
		pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
		if err != nil {
			return errors.Join(cli.Usagef("--cert-file and --key-file: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}})
		scheme = "https"
	}
	served, end := f.handlerOf(backgroundOf(ctx), s, func(token string) (Cluster, error) {
		endpoints, err := a.EndpointList()
		if err != nil {
			return nil, err
		}
		return a.OpenAs(endpoints, token)
	})
	defer end()
	mux := http.NewServeMux()
	mux.Handle("/mcp", served)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: errorLog(a.Tell)}
	a.Tell("serving MCP on %s://%s/mcp", scheme, listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return server.Close() // streams stay open until their clients leave
	}
	return nil
}

// handlerOf returns the HTTP handler, and what closes its connections. dial connects with a caller's
// token.
func (f *flags) handlerOf(run background, s store, dial func(token string) (Cluster, error)) (served http.Handler, end func()) {
	if !f.tokens {
		own := newServer(run, s, rand.Text)
		h := newHandler(s, func(*http.Request) *server { return own })
		own.AddReceivingMiddleware(h.remember)
		return h, func() {}
	}
	all := newCallers(run, s.scope, dial)
	h := newHandler(s, func(r *http.Request) *server {
		info := auth.TokenInfoFromContext(r.Context())
		if info == nil {
			return nil
		}
		one, ok := info.Extra[callerExtra].(*caller)
		if !ok {
			return nil
		}
		return one.server
	})
	all.begun = func(v *server) { v.AddReceivingMiddleware(h.remember) }
	return auth.RequireBearerToken(all.verify, nil)(all.admit(h)), all.close
}
