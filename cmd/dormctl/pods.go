package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/instance/pod"
	"dormouse/internal/cli"
)

func podsCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("pods", "Pods: groups of instances, with a topology", podsGet(a), podsShow(a), podsNodes(a), podsEnsure(a),
		podsReconcile(a), podsMutate(a), podsHibernate(a), podsFork(a))
	cmd.Long = `A pod is an instance with a topology of other instances, its nodes: which node owns
which, and which depends on which. Getting a pod starts its eager nodes in waves. A
mutation changes the topology, which is stored before nodes are started or stopped. A
pod's manager has the handler go:pod.`
	return cmd
}

// onPod makes a call on the pod that a command names.
func onPod(a *kit.App, cmd *cobra.Command, args []string, call func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error) error {
	return a.With(cmd, func(ctx context.Context, s kit.Store) error {
		return call(ctx, pod.Pods{Instances: s.Instances(), Service: s}, agent.InstanceRef{Scope: a.Scope, Manager: args[0], Key: args[1]})
	})
}

func podsGet(a *kit.App) *cobra.Command {
	var topology, initial string
	cmd := &cobra.Command{
		Use: "start MANAGER KEY", Short: "Create a pod if it does not exist, and start its eager nodes", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.OptionalObject("--topology", topology)
			if err != nil {
				return err
			}
			state, err := a.OptionalObject("--initial-state", initial)
			if err != nil {
				return err
			}
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				got, err := pods.Get(ctx, ref, pod.Open{Topology: []byte(raw), InitialState: []byte(state)})
				if err == nil && !got.Created && (raw != nil || state != nil) {
					a.Tell("dormctl: pod %s was there already: its topology stays as it is, and --topology and --initial-state had no effect; pods mutate changes it", ref.Key)
				}
				return printReconciled(a, got.Report, err)
			})
		},
	}
	cmd.Flags().StringVar(&topology, "topology", "", "topology of a new pod: a JSON object, @FILE or - for stdin (default: from the manager's metadata)")
	cmd.Flags().StringVar(&initial, "initial-state", "", "initial state of a new pod: a JSON object, @FILE or - for stdin")
	return cmd
}

func podsEnsure(a *kit.App) *cobra.Command {
	var initial string
	cmd := &cobra.Command{
		Use: "ensure MANAGER KEY NODE", Short: "Start a node, after the nodes that it depends on", Args: cli.Exactly("MANAGER", "KEY", "NODE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := a.OptionalObject("--initial-state", initial)
			if err != nil {
				return err
			}
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				_, report, err := pods.Ensure(ctx, ref, args[2], state)
				return printReconciled(a, report, err)
			})
		},
	}
	cmd.Flags().StringVar(&initial, "initial-state", "", "initial state of the node if it has no checkpoint: a JSON object, @FILE or - for stdin")
	return cmd
}

func podsReconcile(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "reconcile MANAGER KEY [NODE...]", Short: "Start the named nodes, by default the eager ones, and adopt nodes that are awake",
		Args: cli.Between(2, -1, "MANAGER", "KEY", "[NODE...]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				report, err := pods.Reconcile(ctx, ref, args[2:]...)
				return printReconciled(a, report, err)
			})
		},
	}
}

func podsNodes(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "nodes MANAGER KEY", Short: "Show the status of a pod's nodes, without waking them", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				shots, err := pods.Nodes(ctx, ref)
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"name", "status", "kind", "activation", "owner", "manager", "key", "node"}}
				for _, s := range shots {
					g.Add(s.Name, string(s.Status), string(s.Kind), string(s.Activation), cli.OrDash(s.Owner), s.Manager, s.Key, cli.OrDash(s.Node))
				}
				return a.Print(shots, g)
			})
		},
	}
}

func podsShow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get MANAGER KEY", Aliases: []string{"show"}, Short: "Show a pod as it is stored, without waking it", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				view, err := pods.Lookup(ctx, ref)
				if err != nil {
					return err
				}
				m := view.Slot.Mutation
				var g cli.Grid
				g.Add("pod", ref.Manager+" "+ref.Key)
				g.Add("status", string(view.Status))
				g.Add("topology", view.Slot.Topology.Name+", version "+cli.Number(view.Slot.TopologyVersion))
				g.Add("nodes", strings.Join(view.Slot.Topology.Names(), " "))
				g.Add("mutation", strings.TrimSpace(string(m.Status)+" "+m.ID))
				return a.Print(struct {
					Manager string   `json:"manager"`
					Key     string   `json:"key"`
					Status  string   `json:"status"`
					Slot    pod.Slot `json:"pod"`
				}{ref.Manager, ref.Key, string(view.Status), view.Slot}, g)
			})
		},
	}
}

func podsMutate(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "mutate MANAGER KEY OPS", Short: "Change a pod's topology", Args: cli.Exactly("MANAGER", "KEY", "OPS"),
		Long: `mutate changes a pod's topology. The topology is stored first; then nodes are stopped
and started. OPS is a JSON array of {"add_node":{"name","node":{"manager",…},
"owner"?,"depends_on"?}} and {"remove_node":{"name"}}, @FILE or - for stdin. If
the command ends before the mutation does, the pod continues the mutation.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ops, err := a.BytesArg("OPS", args[2])
			if err != nil {
				return err
			}
			request := a.Request()
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				report, err := pods.Mutate(ctx, ref, agent.JSON(ops), request)
				switch agent.CodeOf(err) {
				case "", agent.CodeMutationFailed:
				default:
					return &kit.CommitError{Request: request, Err: err}
				}
				var g cli.Grid
				g.Add("mutation", report.MutationID)
				g.Add("status", string(report.Status))
				g.Add("version", cli.Number(report.TopologyVersion))
				for _, list := range []struct {
					what  string
					names []string
				}{{"added", report.Added}, {"removed", report.Removed}, {"started", report.Started}, {"stopped", report.Stopped}} {
					if !report.Abridged {
						g.Add(list.what, cli.OrDash(strings.Join(list.names, " ")))
					}
				}
				g.Note = abridged(report.Abridged)
				if printing := a.Print(report, g); printing != nil {
					return printing
				}
				return err
			})
		},
	}
}

func podsHibernate(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "hibernate MANAGER KEY", Short: "Stop all nodes and the pod, and show what is stored, at one index", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				rested, err := pods.Hibernate(ctx, ref)
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"manager", "key", "revision", "rev"}, Note: "as of index " + cli.Number(rested.Index)}
				if rested.Abridged {
					g.Note += "; " + abridged(true)
				}
				for _, key := range slices.Sorted(maps.Keys(rested.Nodes)) {
					n := rested.Nodes[key]
					g.Add(n.Manager, key, cli.Number(n.Revision), cli.Number(n.Rev))
				}
				return a.Print(rested, g)
			})
		},
	}
}

func podsFork(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "fork MANAGER KEY NEWKEY", Short: "Fork a pod from what is stored, at one index", Args: cli.Exactly("MANAGER", "KEY", "NEWKEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			request := a.Request()
			return onPod(a, cmd, args, func(ctx context.Context, pods pod.Pods, ref agent.InstanceRef) error {
				forked, err := pods.Fork(ctx, ref, args[2], request)
				if err != nil {
					return &kit.CommitError{Request: request, Err: err}
				}
				var g cli.Grid
				g.Add("pod", args[0]+" "+forked.Key)
				g.Add("nodes", strconv.Itoa(forked.Nodes))
				g.Add("as of index", cli.Number(forked.Index))
				return a.Print(forked, g)
			})
		},
	}
}

// abridged returns the note of a report whose lists are left out, or "".
func abridged(is bool) string {
	if !is {
		return ""
	}
	return "the lists are left out, because the report is too long: dormctl pods nodes shows the nodes"
}

// printReconciled prints a report, that of a failure too, which stays the
// command's.
func printReconciled(a *kit.App, r pod.Reconciled, err error) error {
	if err != nil && agent.CodeOf(err) != agent.CodeReconcileFailed {
		return err
	}
	g := cli.Grid{Head: []string{"wave", "node", "status", "parent"}, Note: abridged(r.Abridged)}
	for n, wave := range r.Waves {
		for _, name := range wave {
			is, under := "pending", ""
			if done, ok := r.Nodes[name]; ok {
				is, under = string(done.Source), done.Owner
			} else if f, ok := r.Failures[name]; ok {
				is = fmt.Sprintf("failed at %s: %s", f.Stage, f.Code)
			}
			g.Add(strconv.Itoa(n+1), name, is, cli.OrDash(under))
		}
	}
	if printing := a.Print(r, g); printing != nil {
		return printing
	}
	return err
}
