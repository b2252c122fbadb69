// Command host joins a cluster as a host: a member without a vote and without stored
// data. It runs the live instances whose Go handler it has.
//
//	go run ./examples/host
//
// The cluster is a node without handlers in the same process, unless -join names a
// node.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/config"
	"dormouse/examples/companion"
	"dormouse/host"
	"dormouse/instance"
	"dormouse/node"
)

func main() {
	key := flag.String("key-file", "dormouse-data/host.key", "host key of the cluster, from a node's data directory; for -join")
	join := flag.String("join", "", "peer address (raft.addr) of a node; if empty, a node is started in this process")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, *join, *key, func(line string, args ...any) { fmt.Printf(line+"\n", args...) }); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		os.Exit(1)
	}
}

// printer prints a line.
type printer func(line string, args ...any)

// run joins the cluster at an address, or starts one if it is empty.
func run(ctx context.Context, join, keyFile string, say printer) error {
	if join != "" {
		return visit(ctx, host.Options{Join: []string{join}, KeyFile: keyFile}, say)
	}
	c := config.Default()
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "node", true, true, true
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(ctx, node.Options{Config: c, Alone: true, Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	life, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(life) }()
	say("a node runs in this process, and has no handler")
	_, grpcAddr := n.Addrs()
	err = visit(ctx, host.Options{Join: []string{n.Group().Addr()}, Key: n.HostKey()}, say, grpcAddr)
	stop()
	return errors.Join(err, <-ended)
}

// visit runs a host: it joins, runs instances, and leaves. endpoints are the nodes'
// gRPC addresses; without any, the addresses that the nodes advertise are used.
func visit(ctx context.Context, o host.Options, say printer, endpoints ...string) error {
	o.Name, o.LeaseTTL = "pantry", time.Second
	o.Instance = instance.Options{Handlers: companion.Handlers(companion.Fake)}
	o.Client.Endpoints, o.Client.Fixed = endpoints, endpoints != nil
	h, err := host.Open(ctx, o)
	if err != nil {
		return err
	}
	life, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(life) }()
	err = talk(ctx, h, say)
	stop() // hibernates the awake instances, releases the partitions, and leaves
	err = errors.Join(err, <-ended)
	say("the host has left")
	return err
}

// talk sends questions to a companion instance on the host.
func talk(ctx context.Context, h *host.Host, say printer) error {
	if _, err := h.Service().Commit(ctx, agent.Commit{Ops: []agent.Op{companion.Manager()}}); err != nil {
		return err
	}
	if err := settle(ctx, h); err != nil {
		return err
	}
	say("a host has joined, and owns %d partitions: no other member has its handler", len(h.Owned()))
	for i, question := range []string{"tea", "milk"} {
		request := agent.Request{Client: "example/ada", Seq: uint64(i) + 1, Low: uint64(i) + 1}
		said, reply, err := companion.Ask(ctx, h.Instances(), "ada", request, question)
		if err != nil {
			return err
		}
		say("ada on %s at rev %d: %s", reply.Node, reply.Rev, said)
	}
	return nil
}

// settle waits until the host owns all partitions.
func settle(ctx context.Context, h *host.Host) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for len(h.Owned()) < layout.Partitions {
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("the host owns %d partitions only", len(h.Owned()))
		}
	}
	return nil
}
