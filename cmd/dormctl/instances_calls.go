package main

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func instancesGet(a *kit.App) *cobra.Command {
	var initial string
	cmd := &cobra.Command{
		Use: "start MANAGER KEY", Short: "Wake an instance, or start it if it does not exist", Args: cli.Exactly("MANAGER", "KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := a.OptionalObject("--initial-state", initial)
			if err != nil {
				return err
			}
			return onInstance(a, cmd, args, func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
				i, err := on.Start(ctx, ref, agent.StartInstance{InitialState: state})
				if err != nil {
					return err
				}
				return printInstance(a, document.InstanceOf(i))
			})
		},
	}
	cmd.Flags().StringVar(&initial, "initial-state", "", "the initial state of a new instance: a JSON object, @FILE or - for stdin")
	return cmd
}

func instancesSignal(a *kit.App) *cobra.Command {
	var cast bool
	cmd := &cobra.Command{
		Use: "signal MANAGER KEY TYPE [DATA]", Short: "Send an instance a signal, and show its handler's answer", Args: cli.Between(3, 4, "MANAGER", "KEY", "TYPE", "[DATA]"),
		Long: `signal wakes the instance, queues the signal behind earlier ones, and shows the
handler's answer. DATA is a JSON object, @FILE or - for stdin. The document handler
accepts append, patch, turn and get. A signal that is repeated under the same
--request-id gets its first answer, and is handled once.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			signal := agent.Signal{Type: args[2], Cast: cast, Request: a.Request()}
			if len(args) > 3 {
				var err error
				if signal.Data, err = a.ObjectArg("DATA", args[3]); err != nil {
					return err
				}
			}
			return onInstance(a, cmd, args, func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
				reply, err := on.Signal(ctx, ref, signal)
				if err != nil {
					return &kit.CommitError{Request: signal.Request, Err: err}
				}
				return printReply(a, reply, cast)
			})
		},
	}
	cmd.Flags().BoolVar(&cast, "cast", false, "do not wait for the turn: the signal is lost if its node fails")
	return cmd
}

func instancesAttach(a *kit.App) *cobra.Command {
	var attach agent.Attach
	cmd := &cobra.Command{
		Use: "attach MANAGER KEY", Short: "Keep an instance awake, and start it", Args: cli.Exactly("MANAGER", "KEY"),
		Long: `attach keeps the instance awake until the attachment ends with detach, or expires.
Renew it with touch --as before its ttl is over.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return onInstance(a, cmd, args, func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
				attached, err := on.Attach(ctx, ref, attach)
				if err != nil {
					return err
				}
				var g cli.Grid
				g.Add("attachment", attached.Attachment)
				g.Add("expires", cli.When(attached.ExpiresAt))
				g.Add("status", string(attached.Status))
				g.Add("node", attached.Node)
				g.Add("attached", cli.Number(attached.Attachments))
				return a.Print(document.AttachedOf(attached), g)
			})
		},
	}
	cmd.Flags().StringVar(&attach.Attachment, "as", "", "attachment id; attaching twice under one id is one attachment (default: generated)")
	cmd.Flags().DurationVar(&attach.TTL, "ttl", 0, "it expires unless it is touched within this time; 0 means the manager's")
	return cmd
}

func instancesTouch(a *kit.App) *cobra.Command {
	var attachment string
	cmd := acting(a, "touch MANAGER KEY", "Restart the idle timeout of an instance, and the ttl of an attachment", "touched", cli.Exactly("MANAGER", "KEY"),
		func(ctx context.Context, on agent.Instances, ref agent.InstanceRef, _ []string) error {
			return on.Touch(ctx, ref, attachment)
		})
	cmd.Flags().StringVar(&attachment, "as", "", "the attachment")
	return cmd
}

func instancesDetach(a *kit.App) *cobra.Command {
	return acting(a, "detach MANAGER KEY ATTACHMENT", "End an attachment", "detached", cli.Exactly("MANAGER", "KEY", "ATTACHMENT"),
		func(ctx context.Context, on agent.Instances, ref agent.InstanceRef, args []string) error {
			return on.Detach(ctx, ref, args[2])
		})
}

func instancesHibernate(a *kit.App) *cobra.Command {
	return acting(a, "hibernate MANAGER KEY", "Store an instance now, and remove it from memory", "hibernated", cli.Exactly("MANAGER", "KEY"),
		func(ctx context.Context, on agent.Instances, ref agent.InstanceRef, _ []string) error {
			return on.Hibernate(ctx, ref)
		})
}

func instancesStop(a *kit.App) *cobra.Command {
	return acting(a, "stop MANAGER KEY", "Hibernate an instance, even if it has attachments", "stopped", cli.Exactly("MANAGER", "KEY"),
		func(ctx context.Context, on agent.Instances, ref agent.InstanceRef, _ []string) error {
			return on.Stop(ctx, ref)
		})
}

// acting is a command that answers only that it was done.
func acting(a *kit.App,
	use, short, did string, args func(*cobra.Command, []string) error, call func(context.Context, agent.Instances, agent.InstanceRef, []string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return onInstance(a, cmd, args, func(ctx context.Context, on agent.Instances, ref agent.InstanceRef) error {
				if err := call(ctx, on, ref, args); err != nil {
					return err
				}
				var g cli.Grid
				g.Add(ref.Key, did)
				return a.Print(actedDoc{ref.Manager, ref.Key, did}, g)
			})
		},
	}
}

func printReply(a *kit.App, r agent.Reply, cast bool) error {
	var g cli.Grid
	g.Add("node", r.Node)
	if !cast {
		g.Add("rev", cli.Number(r.Rev))
		g.Add("revision", cli.Number(r.Revision))
	}
	g.Add("durable", kit.Yes(r.Durable))
	if r.Data != nil {
		g.Add("reply", string(r.Data))
	}
	return a.Print(document.SignalReplyOf(r), g)
}

type actedDoc struct {
	Manager string `json:"manager"`
	Key     string `json:"key"`
	Did     string `json:"did"`
}
