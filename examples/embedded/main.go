// Command embedded runs a whole node inside a program: a cluster of one, with
// nothing on disk, whose live instances are Go values of the program's own.
//
//	go run ./examples/embedded
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent"
	"dormouse/config"
	"dormouse/examples/companion"
	"dormouse/node"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, func(line string, args ...any) { fmt.Printf(line+"\n", args...) }); err != nil {
		fmt.Fprintln(os.Stderr, "embedded:", err)
		os.Exit(1)
	}
}

// printer prints a line.
type printer func(line string, args ...any)

// run starts the node, talks to its instances, and stops it in order.
func run(ctx context.Context, say printer) error {
	c := config.Default()
	c.Node.ID, c.Node.Dev, c.Node.Ephemeral, c.Cluster.Bootstrap = "embedded", true, true, true
	c.HTTP.Addr, c.GRPC.Addr, c.Raft.Addr, c.Gossip.Addr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	n, err := node.Open(ctx, node.Options{Config: c, Alone: true, Handlers: companion.Handlers(companion.Fake), Logger: hclog.NewNullLogger()})
	if err != nil {
		return err
	}
	life, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(life) }()
	err = talk(ctx, say, n)
	stop() // hibernates what is awake, and gives up what the node owns
	return errors.Join(err, <-ended)
}

// talk has two conversations with companions. The node's own calls are those of
// any client, without a network between.
func talk(ctx context.Context, say printer, n *node.Node) error {
	if err := ready(ctx, n); err != nil {
		return err
	}
	say("a node runs in this process")
	if _, err := n.Service().Commit(ctx, agent.Commit{Ops: []agent.Op{companion.Manager()}}); err != nil {
		return err
	}
	if err := ask(ctx, say, n, "ada", 1, "tea"); err != nil {
		return err
	}
	if err := ask(ctx, say, n, "grace", 1, "coffee"); err != nil {
		return err
	}
	if err := n.Instances().Hibernate(ctx, agent.InstanceRef{Manager: "companions", Key: "ada"}); err != nil {
		return err
	}
	say("ada sleeps: nothing of her is in memory")
	if err := ask(ctx, say, n, "ada", 2, "milk"); err != nil { // wakes her
		return err
	}
	if err := ask(ctx, say, n, "ada", 2, "milk"); err != nil { // the same request: nothing is done twice
		return err
	}
	thread := agent.InstanceRef{Manager: "companions", Key: "ada"}.Checkpoint()
	answers, err := n.Service().Read(ctx, agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: thread}}})
	if err != nil {
		return err
	}
	if err := answers.Answers[0].Err; err != nil {
		return err
	}
	for _, e := range answers.Answers[0].Found.(*agent.Entries).Items {
		say("  %d %s", e.Seq, e.Payload)
	}
	return nil
}

// ask asks a companion its nth question, and prints what it says.
func ask(ctx context.Context, say printer, n *node.Node, key string, nth uint64, question string) error {
	request := agent.Request{Client: "example/" + key, Seq: nth, Low: nth}
	said, reply, err := companion.Ask(ctx, n.Instances(), key, request, question)
	if err != nil {
		return err
	}
	say("%s at rev %d: %s", key, reply.Rev, said)
	return nil
}

// ready waits until the node serves.
func ready(ctx context.Context, n *node.Node) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for n.Ready() != nil {
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("the node does not serve: %w", n.Ready())
		}
	}
	return nil
}
