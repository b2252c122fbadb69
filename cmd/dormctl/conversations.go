package main

import (
	"context"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
)

func (a *app) conversationsCommand() *cobra.Command {
	return group("conversations", "What agents go on from, and what people see", a.conversationsList(), a.conversationsShow())
}

func (a *app) conversationsList() *cobra.Command {
	var page pageFlags
	var list agent.ListConversations
	cmd := &cobra.Command{
		Use: "ls", Short: "List conversations: all of them, an agent's, an owner's, or those that wait for a person", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd, func(ctx context.Context, s store) error {
				list.Page = page.page()
				found, err := find[*agent.ConversationList](ctx, a, s, &list)
				if err != nil {
					return err
				}
				g := grid{head: []string{"conversation", "title", "agent", "owner", "lifecycle", "waits", "revision", "messages", "pending", "updated"}, note: more(found.Next)}
				for _, r := range found.Items {
					g.add(r.ID, orDash(r.Title), orDash(r.Agent), orDash(r.Owner), orDash(string(r.Lifecycle)), yesOrDash(r.Interrupted),
						number(r.Revision), number(r.MessageCount), number(r.PendingCount), when(r.UpdatedAt))
				}
				return a.print(document.ListOf(found.Items, found.Next, document.ConversationRowOf), g)
			})
		},
	}
	page.define(cmd)
	cmd.Flags().StringVar(&list.Agent, "agent", "", "only this agent's")
	cmd.Flags().StringVar(&list.Owner, "owner", "", "only those kept on behalf of this one")
	cmd.Flags().BoolVar(&list.Interrupted, "interrupted", false, "only those that wait for a person")
	return cmd
}

func yesOrDash(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}

func (a *app) conversationsShow() *cobra.Command {
	var q agent.ListMessages
	cmd := &cobra.Command{
		Use: "get CONVERSATION", Aliases: []string{"show"}, Short: "Show a conversation: how it stands, what is pending, and what people see", Args: exactly("CONVERSATION"),
		Long: `show shows how a conversation stands and its last messages. -o json and
-o yaml show its state too, as it was saved.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.ID = args[0]
			return a.with(cmd, func(ctx context.Context, s store) error {
				c, err := find[*agent.SavedConversation](ctx, a, s, &agent.GetConversation{ConversationRef: q.ConversationRef})
				if err != nil {
					return err
				}
				messages, err := find[*agent.MessageList](ctx, a, s, &q)
				if err != nil {
					return err
				}
				return a.printConversation(c, messages)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Agent, "agent", "", "whose it must be")
	flags.StringVar(&q.Owner, "owner", "", "on whose behalf it must be kept")
	flags.Uint64Var(&q.Tail, "tail", 20, "how many messages, the last ones; 0 means from the first on")
	return cmd
}

func (a *app) printConversation(c *agent.SavedConversation, messages *agent.MessageList) error {
	if a.output != outputTable {
		return a.print(conversationDoc{document.SavedConversationOf(c), document.MessagePageOf(messages).Items}, grid{})
	}
	var g grid
	for _, line := range [][2]string{
		{"conversation", c.ID},
		{"title", orDash(c.Title)},
		{"agent", orDash(c.Agent)},
		{"owner", orDash(c.Owner)},
		{"revision", number(c.Revision)},
		{"lifecycle", orDash(string(c.Lifecycle))},
		{"waits for a person", yesOrDash(c.Interrupted)},
		{"state", number(len(c.State)) + " bytes, version " + number(c.Version)},
		{"saved", when(c.SavedAt)},
		{"updated", when(c.UpdatedAt)},
	} {
		g.add(line[0], line[1])
	}
	for _, p := range c.Pending {
		g.add("pending "+number(p.Number), short(p.Message))
	}
	if err := a.print(nil, g); err != nil {
		return err
	}
	if len(messages.Items) == 0 {
		return nil
	}
	table := grid{head: []string{"seq", "at", "role", "type", "status", "content"}}
	for _, m := range messages.Items {
		table.add(number(m.Seq), when(m.At), string(m.Role), m.Type, orDash(string(m.Status)), short(m.Content))
	}
	return a.print(nil, table)
}
