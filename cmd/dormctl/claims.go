package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func claimsCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("claims", "Claims: exclusive rights with a ttl", claimsGet(a), claimsTake(a), claimsRenew(a), claimsRelease(a),
		claimsList(a), claimsWatch(a))
	cmd.Long = `A claim is the exclusive right to a name. One holder has it at a time, under an
epoch that is never used again. It expires unless it is renewed. Every write accepts
--fence CLAIM@EPOCH, and is refused once that holding has ended.`
	return cmd
}

func claimsGet(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get CLAIM", Short: "Show the holder of a claim", Args: cli.Exactly("CLAIM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetClaim{Claim: args[0]}, func(c *agent.Claim) error {
				return printClaim(a, *c)
			})
		},
	}
}

func claimsTake(a *kit.App) *cobra.Command {
	op := &agent.TakeClaim{}
	cmd := &cobra.Command{
		Use: "take CLAIM --holder HOLDER", Short: "Take a claim that has no other holder", Args: cli.Exactly("CLAIM"),
		Long: `take begins a holding under a new epoch. A holder that takes its own claim again,
for example after a restart, ends its earlier holding.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Claim = args[0]
			return changeClaim(a, cmd, op)
		},
	}
	cmd.Flags().StringVar(&op.Holder, "holder", "", "the holder")
	cmd.Flags().DurationVar(&op.TTL, "ttl", agent.ClaimTTLDefault, "how long the holding lasts unless it is renewed")
	return cmd
}

func claimsRenew(a *kit.App) *cobra.Command {
	op := &agent.RenewClaim{}
	cmd := &cobra.Command{
		Use: "renew CLAIM --holder HOLDER --epoch EPOCH", Short: "Renew a holding: restart its ttl", Args: cli.Exactly("CLAIM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Claim = args[0]
			return changeClaim(a, cmd, op)
		},
	}
	holdingFlags(cmd, &op.Holder, &op.Epoch)
	cmd.Flags().DurationVar(&op.TTL, "ttl", 0, "new ttl; 0 keeps the current one")
	return cmd
}

func claimsRelease(a *kit.App) *cobra.Command {
	op := &agent.ReleaseClaim{}
	cmd := &cobra.Command{
		Use: "release CLAIM --holder HOLDER --epoch EPOCH", Short: "Release a claim, or hand it over", Args: cli.Exactly("CLAIM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Claim = args[0]
			return changeClaim(a, cmd, op)
		},
	}
	holdingFlags(cmd, &op.Holder, &op.Epoch)
	cmd.Flags().StringVar(&op.To, "to", "", "the next holder, which holds it without a gap")
	cmd.Flags().DurationVar(&op.TTL, "ttl", 0, "how long the next one holds it; 0 means as before")
	return cmd
}

// holdingFlags adds --holder and --epoch to cmd.
func holdingFlags(cmd *cobra.Command, holder *string, epoch *uint64) {
	cmd.Flags().StringVar(holder, "holder", "", "the holder")
	cmd.Flags().Uint64Var(epoch, "epoch", 0, "the epoch of the holding")
}

func claimsList(a *kit.App) *cobra.Command {
	read := func(page agent.Page) agent.Read { return &agent.ListClaims{Page: page} }
	return kit.List(a, "List the claims that are held", read, func(list *agent.ClaimList) error {
		g := cli.Grid{Head: []string{"claim", "holder", "epoch", "ttl", "claimed", "expires"}, Note: kit.More(list.Next)}
		for _, c := range list.Items {
			g.Add(c.Name, c.Holder, cli.Number(c.Epoch), c.TTL.String(), cli.When(c.ClaimedAt), cli.When(c.ExpiresAt))
		}
		return a.Print(document.ListOf(list.Items, list.Next, document.ClaimOf), g)
	})
}

func claimsWatch(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "watch CLAIM", Short: "Show the holder of a claim, now and after each change, until interrupted", Args: cli.Exactly("CLAIM"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				for event, err := range s.Watch(ctx, agent.Watch{Scope: a.Scope, Claim: args[0]}) {
					if err != nil {
						if ctx.Err() != nil {
							return nil // interrupted, as it was meant to be
						}
						return err
					}
					if err := a.Event(document.ClaimOf(event.Claim), holderLine(event.Claim)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// holderLine returns a claim's holder as one line.
func holderLine(c agent.Claim) string {
	if !c.Held() {
		return c.Name + " has no holder"
	}
	return fmt.Sprintf("%s  %s holds %s at epoch %d", cli.When(c.ClaimedAt), c.Holder, c.Name, c.Epoch)
}

// changeClaim commits an op on a claim and shows the claim after it.
func changeClaim(a *kit.App, cmd *cobra.Command, op agent.Op) error {
	return kit.Change(a, cmd, op, func(changed *agent.ClaimResult) error {
		return printClaim(a, changed.Claim)
	})
}

func printClaim(a *kit.App, c agent.Claim) error {
	var g cli.Grid
	g.Add("claim", c.Name)
	if !c.Held() {
		g.Add("holder", "none")
		return a.Print(document.ClaimOf(c), g)
	}
	g.Add("holder", c.Holder)
	g.Add("epoch", cli.Number(c.Epoch))
	g.Add("ttl", c.TTL.String())
	g.Add("claimed", cli.When(c.ClaimedAt))
	g.Add("expires", cli.When(c.ExpiresAt))
	g.Add("fence", fmt.Sprintf("--fence %s@%d", c.Name, c.Epoch))
	return a.Print(document.ClaimOf(c), g)
}
