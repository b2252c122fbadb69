package main

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func conversationsCommand(a *kit.App) *cobra.Command {
	return cli.Group("conversations", "Conversations: an agent's state and the messages that people see", conversationsList(a), conversationsShow(a))
}

func conversationsList(a *kit.App) *cobra.Command {
	var page kit.PageFlags
	var list agent.ListConversations
	cmd := &cobra.Command{
		Use: "ls", Short: "List conversations: all, or those that match one filter", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list.Page = page.Page()
			return kit.Show(a, cmd, &list, func(found *agent.ConversationList) error {
				g := cli.Grid{Head: []string{"conversation", "title", "agent", "owner", "lifecycle", "waits", "revision", "messages", "pending", "updated"}, Note: kit.More(found.Next)}
				for _, r := range found.Items {
					g.Add(r.ID, cli.OrDash(r.Title), cli.OrDash(r.Agent), cli.OrDash(r.Owner), cli.OrDash(string(r.Lifecycle)), yesOrDash(r.Interrupted),
						cli.Number(r.Revision), cli.Number(r.MessageCount), cli.Number(r.PendingCount), cli.When(r.UpdatedAt))
				}
				return a.Print(document.ListOf(found.Items, found.Next, document.ConversationRowOf), g)
			})
		},
	}
	page.DefineRows(cmd)
	cmd.Flags().StringVar(&list.Agent, "agent", "", "only those of this agent")
	cmd.Flags().StringVar(&list.Owner, "owner", "", "only those of this owner")
	cmd.Flags().BoolVar(&list.Interrupted, "interrupted", false, "only those that wait for a person")
	return cmd
}

func yesOrDash(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func conversationsShow(a *kit.App) *cobra.Command {
	var q agent.ListMessages
	cmd := &cobra.Command{
		Use: "get CONVERSATION", Aliases: []string{"show"}, Short: "Show a conversation: its state, pending messages, and visible messages", Args: cli.Exactly("CONVERSATION"),
		Long: `get shows a conversation and its last messages. -o json and -o yaml show its saved
state too.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.ID = args[0]
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				c, err := kit.Find[*agent.SavedConversation](ctx, a, s, &agent.GetConversation{ConversationRef: q.ConversationRef})
				if err != nil {
					return err
				}
				messages, err := allMessages(ctx, a, s, q)
				if err != nil {
					return err
				}
				return printConversation(a, c, messages)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Agent, "agent", "", "the agent that it must belong to")
	flags.StringVar(&q.Owner, "owner", "", "the owner that it must belong to")
	flags.Uint64Var(&q.Tail, "tail", 20, "how many of the last messages; 0 means all from the first on")
	return cmd
}

// allMessages returns the messages of a query, of all of its pages.
func allMessages(ctx context.Context, a *kit.App, s kit.Store, q agent.ListMessages) (*agent.MessageList, error) {
	all := &agent.MessageList{}
	for {
		page, err := kit.Find[*agent.MessageList](ctx, a, s, &q)
		if err != nil {
			return nil, err
		}
		all.Conversation, all.Items = page.Conversation, append(all.Items, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		q.From, q.Tail = *page.Next, 0
	}
}

func printConversation(a *kit.App, c *agent.SavedConversation, messages *agent.MessageList) error {
	if a.Output != kit.OutputTable {
		return a.Print(kit.ConversationDoc{SavedConversation: document.SavedConversationOf(c), Messages: document.MessagePageOf(messages).Items}, cli.Grid{})
	}
	var g cli.Grid
	for _, line := range [][2]string{
		{"conversation", c.ID},
		{"title", cli.OrDash(c.Title)},
		{"agent", cli.OrDash(c.Agent)},
		{"owner", cli.OrDash(c.Owner)},
		{"revision", cli.Number(c.Revision)},
		{"lifecycle", cli.OrDash(string(c.Lifecycle))},
		{"waits for a person", yesOrDash(c.Interrupted)},
		{"state", cli.Number(len(c.State)) + " bytes, version " + cli.Number(c.Version)},
		{"saved", cli.When(c.SavedAt)},
		{"updated", cli.When(c.UpdatedAt)},
	} {
		g.Add(line[0], line[1])
	}
	for _, p := range c.Pending {
		g.Add("pending "+cli.Number(p.Number), cli.Short(p.Message))
	}
	if err := a.Print(nil, g); err != nil {
		return err
	}
	if len(messages.Items) == 0 {
		return nil
	}
	table := cli.Grid{Head: []string{"seq", "at", "role", "type", "status", "content"}}
	for _, m := range messages.Items {
		table.Add(cli.Number(m.Seq), cli.When(m.At), string(m.Role), m.Type, cli.OrDash(string(m.Status)), cli.Short(m.Content))
	}
	return a.Print(nil, table)
}
