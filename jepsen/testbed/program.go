package testbed

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Programs returns the hosts of the programs that run beside the nodes, which
// docs/adr/019-hosts.md calls hosts. The same faults apply to them as to the hosts of
// nodes, except for disks and clocks.
func (b *Bed) Programs() []*Host {
	return slices.DeleteFunc(b.all(), func(h *Host) bool { return h.program == nil })
}

// accompany starts the programs and waits until all have joined.
func (b *Bed) accompany(ctx context.Context) error {
	for _, command := range b.options.Programs {
		if _, err := b.addHost(ctx, command); err != nil {
			return err
		}
	}
	programs := b.Programs()
	if err := start(ctx, programs); err != nil {
		return err
	}
	if err := ready(ctx, programs); err != nil {
		return err
	}
	if len(programs) > 0 {
		b.options.Logf("%d programs have joined", len(programs))
	}
	return nil
}

func start(ctx context.Context, hosts []*Host) error {
	for _, h := range hosts {
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until all hosts are ready. It returns when the process of one has ended: the others may wait for it.
func ready(ctx context.Context, hosts []*Host) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, h := range hosts {
		all.Go(func() error { return h.Ready(ctx) })
	}
	return all.Wait()
}

// hostName returns the name of the next host of its kind.
func (b *Bed) hostName(program []string) string {
	if program != nil {
		return fmt.Sprintf("p%d", len(b.Programs())+1)
	}
	return fmt.Sprintf("n%d", len(b.Hosts())+1)
}

// programArgs returns the arguments that tell a program its addresses and the current
// addresses of the nodes.
func (h *Host) programArgs() []string {
	args := append(slices.Clone(h.program[1:]), "--name", h.node, "--host-key-file", h.bed.keyPath(hostKeyFile), "--listen", h.Raft(), "--http", h.HTTP())
	for _, node := range h.bed.Hosts() {
		args = append(args, "--join", node.Raft())
	}
	return args
}
