package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

// readyMax bounds the wait for a started node. Another fault may delay it.
const readyMax = 20 * time.Second

// run makes the host's node run again, whether it was stopped, paused or ended itself,
// and waits until it is ready.
func (f *field) run(ctx context.Context, h *testbed.Host) error {
	if !h.Running() {
		f.mustRun(h)
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	return h.Ready(ctx)
}

// runAll calls run for several hosts in parallel, because nodes may need each other to
// become ready.
func (f *field) runAll(ctx context.Context, hosts []*testbed.Host) error {
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() { errs[i] = f.run(ctx, h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// kill kills the nodes' processes.
func (f *field) kill(hosts ...*testbed.Host) error {
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		f.mayExit(h, "killed")
		wait.Go(func() { errs[i] = h.Kill() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// ask requests a change of membership until it is made or definitely fails.
func (f *field) ask(ctx context.Context, change layout.Change, node string) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := f.operator.Change(attempt, change, node)
		cancel()
		switch agent.CodeOf(err) {
		case "":
			return nil
		case agent.CodeNotFound:
			if change == layout.ChangeLeave {
				return nil // an earlier attempt did it
			}
			return err
		case agent.CodeUnknown, agent.CodeUnavailable, agent.CodeOverloaded:
		default:
			return fmt.Errorf("%s %s: %w", change, node, err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s %s: %w", change, node, err)
		}
	}
}

// votes waits until the host's node votes. Then the node has applied everything that
// the leader had committed when it was asked, and every running node counts it as a
// voter. The node's own view is not enough: while it catches up it may replay an old
// configuration in which it voted.
func (f *field) votes(ctx context.Context, h *testbed.Host) error {
	for {
		why := f.counted(ctx, h)
		if why == nil {
			return nil
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return fmt.Errorf("%s does not vote again: %w", h.Name(), why)
		}
	}
}

// counted returns why a node does not vote yet; nil if it votes.
func (f *field) counted(ctx context.Context, h *testbed.Host) error {
	leader, err := f.Bed.Leader(ctx)
	if err != nil {
		return err
	}
	ahead, err := f.Bed.Status(ctx, leader)
	if err != nil {
		return err
	}
	for _, other := range f.members() {
		if !other.Running() {
			continue
		}
		status, err := f.Bed.Status(ctx, other.Name())
		switch {
		case err != nil:
			return err
		case !voter(status, h.Node()):
			return fmt.Errorf("%s does not count it as a voter", other.Name())
		case other == h && status.AppliedIndex < ahead.CommitIndex:
			return fmt.Errorf("its applied index is %d, the leader's commit index %d", status.AppliedIndex, ahead.CommitIndex)
		}
	}
	return nil
}

func voter(status testbed.Status, node string) bool {
	return slices.ContainsFunc(status.Members, func(m testbed.Member) bool { return m.ID == node && m.Voter })
}

// stopMax is longer than an orderly stop takes.
const stopMax = 30 * time.Second

// halt stops a node with SIGTERM.
func (f *field) halt(ctx context.Context, h *testbed.Host) error {
	ctx, cancel := context.WithTimeout(ctx, stopMax)
	defer cancel()
	f.mayExit(h, "exit code 0")
	if err := h.Terminate(ctx); err != nil {
		f.broken(h, "a node does not stop", "after SIGTERM and %v it still runs", stopMax)
		return errors.Join(err, f.kill(h))
	}
	return nil
}

// reboot stops a node with SIGTERM and starts it again.
func (f *field) reboot(ctx context.Context, h *testbed.Host) error {
	if err := f.halt(ctx, h); err != nil {
		return err
	}
	if err := f.run(ctx, h); err != nil {
		return fmt.Errorf("after an orderly restart: %w", err)
	}
	return nil
}
