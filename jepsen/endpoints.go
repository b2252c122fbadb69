package jepsen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent/layout"
	"dormouse/client"
	"dormouse/internal/pause"
	"dormouse/jepsen/check"
	"dormouse/jepsen/command"
	"dormouse/jepsen/history"
)

// Target is a cluster that the harness did not start. The harness only calls it and
// runs the hooks.
type Target struct {
	Endpoints []string // gRPC addresses, host:port
	HookFault string   // shell command that injects a fault; "" means no faults
	HookHeal  string   // shell command that heals the fault
}

func (t *Target) flags() []string {
	flags := []string{"--endpoints", strings.Join(t.Endpoints, ",")}
	if t.HookFault != "" {
		flags = append(flags, "--hook-fault", fmt.Sprintf("%q", t.HookFault), "--hook-heal", fmt.Sprintf("%q", t.HookHeal))
	}
	return flags
}

const (
	// answerMax bounds a status request to one node.
	answerMax = 3 * time.Second
	// hookMax bounds one run of a hook.
	hookMax = 60 * time.Second
	// hookPause is the time before the first fault and after each healing; hookFor is
	// how long a fault lasts.
	hookPause = 5 * time.Second
	hookFor   = 10 * time.Second
)

// targetStage is a cluster that the harness did not start.
type targetStage struct {
	target Target
	long   time.Duration
	found  []node
}

// openTarget asks each address for its node.
func openTarget(ctx context.Context, o Options) (*targetStage, error) {
	s := &targetStage{target: *o.Target, long: o.Time}
	switch {
	case len(s.target.Endpoints) == 0:
		return nil, errors.New("jepsen: no addresses of the cluster are given")
	case (s.target.HookFault == "") != (s.target.HookHeal == ""):
		return nil, errors.New("jepsen: the hook that injects a fault and the hook that heals it must be given together")
	case len(o.Nemeses) != 1 || o.Nemeses[0] != "none":
		return nil, errors.New("jepsen: a nemesis works only on a cluster that the harness starts: leave the nemesis out, or give hooks")
	}
	for _, addr := range s.target.Endpoints {
		status, err := s.status(ctx, addr)
		if err != nil {
			return nil, fmt.Errorf("jepsen: no node answers at %s: %w", addr, err)
		}
		s.found = append(s.found, node{name: status.Node, id: status.Node, grpc: addr})
	}
	return s, nil
}

func (s *targetStage) status(ctx context.Context, addr string) (status layout.ClusterStatus, err error) {
	c, err := s.dial("", false, addr)
	if err != nil {
		return status, err
	}
	defer c.Close() //nolint:errcheck // one request was made
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	return c.Status(ctx)
}

func (s *targetStage) nodes() []node { return s.found }

func (s *targetStage) dial(scope string, roam bool, addrs ...string) (*client.Client, error) {
	return client.Dial(client.Options{
		Endpoints: addrs, Fixed: !roam, Scope: scope, DialOptions: []grpc.DialOption{countAttempts()},
	})
}

// web implements stage: such a cluster is called over gRPC only.
func (*targetStage) web() http.RoundTripper { return nil }

// command implements stage.
func (*targetStage) command([]string) command.Run { return nil }

func (s *targetStage) plan() any { return s.target }

func (s *targetStage) build(ctx context.Context) string { return version(ctx, s) }

func (s *targetStage) missing() []string {
	if s.target.HookFault == "" {
		return []string{"no faults: the harness did not start the cluster, and no hooks were given"}
	}
	return nil
}

func (s *targetStage) close() error { return nil }

func (s *targetStage) sample(ctx context.Context, name string) (check.Sample, error) {
	for _, n := range s.found {
		if n.name == name {
			is, err := s.status(ctx, n.grpc)
			return check.Sample{Leader: is.Leader, Term: is.Term, Commit: is.CommitIndex, Applied: is.AppliedIndex, Chain: is.Chain}, err
		}
	}
	return check.Sample{}, fmt.Errorf("no node is called %q", name)
}

// rows implements stage. The harness calls such a cluster only over gRPC, which has no call
// for the rows.
func (s *targetStage) rows(context.Context, string) (*check.Rows, error) { return nil, nil } //nolint:nilnil // there are none

// disturb runs the two hooks alternately until the time is over. The healing hook is
// always last.
func (s *targetStage) disturb(ctx context.Context, record *history.Recorder, tell func(string)) error {
	if s.target.HookFault == "" {
		return nil
	}
	began := time.Now()
	for step := 1; time.Since(began)+hookPause+hookFor < s.long && pause.For(ctx, hookPause); step++ {
		event := history.Event{Kind: history.EventFault, Name: "hook", Step: step, Detail: s.target.HookFault}
		record.Event(event)
		tell("fault: " + s.target.HookFault)
		err := hook(ctx, s.target.HookFault)
		pause.For(ctx, hookFor)
		err = errors.Join(err, hook(context.WithoutCancel(ctx), s.target.HookHeal))
		event.Kind, event.Detail = history.EventHeal, s.target.HookHeal
		record.Event(event)
		tell("healed: " + s.target.HookHeal)
		if err != nil {
			return err
		}
	}
	return nil
}

// hook runs a shell command that the user gave.
func hook(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, hookMax)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
	if err != nil {
		return fmt.Errorf("hook %q: %w: %s", command, err, strings.TrimSpace(string(out)))
	}
	return nil
}
