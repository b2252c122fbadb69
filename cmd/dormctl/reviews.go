package main

import (
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func reviewsCommand(a *kit.App) *cobra.Command {
	return cli.Group("reviews", "Reviews: operations that wait for a person's decision", reviewsList(a), reviewsShow(a),
		reviewsDecide(a, agent.DecideApprove, "Approve the operation"),
		reviewsDecide(a, agent.DecideDeny, "Deny the operation"), reviewsEdit(a))
}

func reviewsList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	var before instant
	list := &agent.ListReviews{}
	cmd := &cobra.Command{
		Use: "ls", Short: "List reviews by deadline, or the reviews of a session in order of request", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list.Page = agent.Page{After: page.After, Limit: page.Limit}
			if before.at != nil {
				list.Before = *before.at
			}
			return kit.Show(a, cmd, list, func(found *agent.ReviewList) error {
				g := reviewsGrid(found.Items)
				g.Note = kit.More(found.Next)
				return a.Print(document.ListOf(found.Items, found.Next, document.ReviewOf), g)
			})
		},
	}
	cmd.Flags().StringVar((*string)(&list.Status), "status", "", "pending, approved, denied, edited, expired or withdrawn (default pending; with --session, any)")
	cmd.Flags().Var(&before, "before", "only reviews with an earlier deadline: RFC 3339, or Unix ms")
	cmd.Flags().StringVar(&list.Assignee, "assignee", "", "only reviews of this assignee")
	cmd.Flags().StringVar(&list.Session, "session", "", "only those of this session")
	page.DefineUnprefixed(cmd)
	return cmd
}

func reviewsGrid(reviews []agent.Review) cli.Grid {
	g := cli.Grid{Head: []string{"review", "session", "status", "expires", "assignee", "operation", "arguments"}}
	for _, r := range reviews {
		g.Add(r.ID, r.Session, string(r.Status), cli.When(r.ExpiresAt), cli.OrDash(r.Assignee), cli.OrDash(r.Operation), cli.Short(kit.Object(r.Arguments)))
	}
	return g
}

func reviewsShow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get REVIEW", Aliases: []string{"show"}, Short: "Show a review", Args: cli.Exactly("REVIEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetReview{Review: args[0]}, func(found *agent.Review) error {
				return printReview(a, *found)
			})
		},
	}
}

func printReview(a *kit.App, r agent.Review) error {
	var g cli.Grid
	add := func(name, value string) {
		if value != "" && value != "-" {
			g.Add(name, value)
		}
	}
	g.Add("review", r.ID)
	g.Add("status", string(r.Status))
	g.Add("session", r.Session)
	add("request", r.RequestID)
	add("interrupt", r.InterruptID)
	g.Add("operation", cli.OrDash(r.Operation))
	g.Add("arguments", string(kit.Object(r.Arguments)))
	add("reason", r.Reason)
	if string(kit.Object(r.Metadata)) != "{}" {
		g.Add("metadata", string(r.Metadata))
	}
	add("assignee", r.Assignee)
	add("deciders", cli.Joined(r.Deciders))
	g.Add("asked", cli.When(r.CreatedAt))
	add("expires", cli.When(r.ExpiresAt))
	if r.EscalateAt != 0 {
		did := "goes"
		if r.Escalated {
			did = "went"
		}
		g.Add("escalation", did+" to "+cli.OrDash(r.EscalateTo)+" at "+cli.When(r.EscalateAt))
	}
	add("decided by", r.DecidedBy)
	add("decided", cli.When(r.DecidedAt))
	add("with", string(r.Decided))
	add("note", r.Note)
	return a.Print(document.ReviewOf(r), g)
}

func reviewsDecide(a *kit.App, decision agent.ReviewDecision, short string) *cobra.Command {
	op := &agent.DecideReview{Decision: decision}
	cmd := &cobra.Command{
		Use: string(decision) + " REVIEW --by WHO", Short: short, Args: cli.Exactly("REVIEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			op.Review = args[0]
			return decide(a, cmd, op)
		},
	}
	decideFlags(cmd, op)
	return cmd
}

func reviewsEdit(a *kit.App) *cobra.Command {
	op := &agent.DecideReview{Decision: agent.DecideEdit}
	cmd := &cobra.Command{
		Use: "edit REVIEW ARGUMENTS --by WHO", Short: "Approve the operation with other arguments", Args: cli.Exactly("REVIEW", "ARGUMENTS"),
		Long: "edit approves the operation with ARGUMENTS instead of the requested ones: a JSON object, @FILE, or - for stdin.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			op.Review = args[0]
			if op.Arguments, err = a.ObjectArg("arguments", args[1]); err != nil {
				return err
			}
			return decide(a, cmd, op)
		},
	}
	decideFlags(cmd, op)
	return cmd
}

func decideFlags(cmd *cobra.Command, op *agent.DecideReview) {
	cmd.Flags().StringVar(&op.By, "by", "", "name of the person or principal who decides")
	cmd.Flags().StringVar(&op.Note, "note", "", "comment that is stored with the decision")
	cmd.Flags().StringVar(&op.InterruptID, "interrupt", "", "decide only if the review belongs to this interrupt")
}

// decide answers a review and shows it.
func decide(a *kit.App, cmd *cobra.Command, op *agent.DecideReview) error {
	return kit.Change(a, cmd, op, func(decided *agent.ReviewResult) error {
		return printReview(a, decided.Review)
	})
}
