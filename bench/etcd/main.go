// Command dormbench-etcd is one etcd server, embedded and with its defaults,
// for the comparison that dormbench makes. It runs until a signal ends it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "dormbench-etcd: %v\n", err)
		os.Exit(1) //nolint:gocritic // the process ends, and with it the handler of signals
	}
}

// flags are what tells one node from another.
type flags struct{ name, dir, client, peer, cluster string }

func command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "dormbench-etcd", Short: "One etcd server, with its defaults", Version: version.Version,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), f) },
	}
	cmd.SetVersionTemplate("{{.Version}}\n")
	cmd.Flags().StringVar(&f.name, "name", "n1", "of this node")
	cmd.Flags().StringVar(&f.dir, "data-dir", "", "for its data")
	cmd.Flags().StringVar(&f.client, "client", "127.0.0.1:2379", "address for clients")
	cmd.Flags().StringVar(&f.peer, "peer", "127.0.0.1:2380", "address for other nodes")
	cmd.Flags().StringVar(&f.cluster, "cluster", "", "all nodes: NAME=http://ADDRESS, comma-separated")
	return cmd
}

// quota lets the data grow past etcd's 2 GiB: it changes no cost.
const quota = 16 << 30

// serve runs the server until ctx ends. What flushes and when is etcd's own
// default: its log is flushed before it acknowledges.
func serve(ctx context.Context, f flags) error {
	c := embed.NewConfig()
	c.Name, c.Dir, c.InitialCluster = f.name, f.dir, f.cluster
	c.ListenClientUrls, c.AdvertiseClientUrls = at(f.client), at(f.client)
	c.ListenPeerUrls, c.AdvertisePeerUrls = at(f.peer), at(f.peer)
	c.LogLevel, c.QuotaBackendBytes = "warn", quota
	server, err := embed.StartEtcd(c)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer server.Close()
	select {
	case err := <-server.Err():
		return fmt.Errorf("serve: %w", err)
	case <-server.Server.StopNotify():
		return errors.New("etcd has stopped by itself")
	case <-ctx.Done():
		return nil
	}
}

func at(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
