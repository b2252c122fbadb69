package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/internal/pause"
	"dormouse/jepsen/testbed"
)

// readyMax bounds the wait for a node that was started. Where another fault
// keeps it from being ready that is not its own failure.
const readyMax = 20 * time.Second

// run has the host's node run again, whether it was stopped, paused or ended
// itself, and waits a while until it is ready.
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

// runAll does so for several at once, as some may need each other to be ready.
func (f *field) runAll(ctx context.Context, hosts []*testbed.Host) error {
	errs := make([]error, len(hosts))
	var wait sync.WaitGroup
	for i, h := range hosts {
		wait.Go(func() { errs[i] = f.run(ctx, h) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// kill ends the nodes at once.
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

// ask has the operator ask for a change until it is made or surely cannot be.
func (f *field) ask(ctx context.Context, change agent.Change, node string) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := f.operator.Change(attempt, change, node)
		cancel()
		switch agent.CodeOf(err) {
		case "":
			return nil
		case agent.CodeNotFound:
			if change == agent.ChangeLeave {
				return nil // an attempt before this one did it
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

// votes waits until the host's node votes: it has all that the leader had
// committed when it was asked, and every node that runs counts it as a voter. A
// node alone does not know: while it catches up it may read in its log that it
// voted in a former life.
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

// counted says why a node does not vote yet; nil where it does.
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
			return fmt.Errorf("it stands at %d, the leader at %d", status.AppliedIndex, ahead.CommitIndex)
		}
	}
	return nil
}

func voter(status testbed.Status, node string) bool {
	return slices.ContainsFunc(status.Members, func(m testbed.Member) bool { return m.ID == node && m.Voter })
}

// stopMax is more than a node takes for an orderly stop.
const stopMax = 30 * time.Second

// halt stops a node in order.
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

// reboot stops a node in order and starts it again.
func (f *field) reboot(ctx context.Context, h *testbed.Host) error {
	if err := f.halt(ctx, h); err != nil {
		return err
	}
	if err := f.run(ctx, h); err != nil {
		return fmt.Errorf("after an orderly restart: %w", err)
	}
	return nil
}
