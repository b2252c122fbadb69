package main

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func (a commands) managersCommand() *cobra.Command {
	cmd := cli.Group("managers", "How live instances of a kind are kept", a.managersList(), a.managersShow(), a.managersPut(), a.managersRemove())
	cmd.Long = `A manager says how the instances of one kind are kept: by what handler, how long
they stay awake, and what of them is stored. An instance is one key of it; see
dormctl instances.`
	return cmd
}

func (a commands) managersList() *cobra.Command {
	var page kit.PageFlags
	cmd := &cobra.Command{
		Use: "ls", Short: "List managers", Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				list, err := kit.Find[*agent.ManagerList](ctx, a.App, s, &agent.ListManagers{Page: page.Page()})
				if err != nil {
					return err
				}
				g := cli.Grid{Head: []string{"manager", "handler", "idle timeout", "durability", "storage", "version", "revision"}, Note: kit.More(list.Next)}
				for i := range list.Items {
					m := &list.Items[i]
					g.Add(m.Name, handlerText(m.Handler), orNever(m.IdleTimeout), string(m.Durability), string(m.Storage), cli.Number(m.Version), cli.Number(m.Revision))
				}
				return a.Print(document.ListOf(list.Items, list.Next, document.ManagerOf), g)
			})
		},
	}
	page.Define(cmd)
	return cmd
}

func (a commands) managersShow() *cobra.Command {
	return &cobra.Command{
		Use: "get MANAGER", Aliases: []string{"show"}, Short: "Show a manager", Args: cli.Exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				m, err := kit.Find[*agent.Manager](ctx, a.App, s, &agent.GetManager{Name: args[0]})
				if err != nil {
					return err
				}
				return a.printManager(m)
			})
		},
	}
}

func (a commands) managersPut() *cobra.Command {
	var m agent.Manager
	var handler, signWith, durability, storage, metadata string
	var track bool
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put MANAGER", Short: "Set how the instances of one kind are kept", Args: cli.Exactly("MANAGER"),
		Long: `put replaces a manager: fields without a flag get their defaults. Instances that are
awake use the new settings within a second; they are thawed again if the handler,
version or storage changed.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			m.Name, m.Handler, m.Durability, m.Storage = args[0], handlerOf(handler, signWith), agent.Durability(durability), agent.Keeping(storage)
			if cmd.Flags().Changed("track") {
				m.SetTracking(&track)
			}
			if m.Metadata, err = a.OptionalObject("--metadata", metadata); err != nil {
				return err
			}
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				result, err := a.Commit(ctx, s, &agent.PutManager{Manager: m, IfRevision: guard.Revision()})
				if err != nil {
					return err
				}
				put, err := kit.ResultOf[*agent.ManagerResult](result, 0)
				if err != nil {
					return err
				}
				return a.printManager(&put.Manager)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&handler, "handler", string(agent.HandlerDocument), "what handles signals: document, go:NAME as a program has registered it, or a URL")
	flags.StringVar(&signWith, "sign-with", "", "of a URL: which of the nodes' keys signs requests")
	flags.DurationVar(&m.IdleTimeout, "idle-timeout", 0, "hibernate an instance that had no attachment and no signal for this time; 0 means never")
	flags.StringVar(&durability, "durability", "", "turn (store each signal before its reply) or idle (store at hibernation)")
	flags.StringVar(&storage, "storage", "", "cluster, or none: what an instance knew is gone when it sleeps")
	flags.Uint64Var(&m.Version, "state-version", 0, "of the state that the handler understands; 0 means 1")
	flags.IntVar(&m.MailboxMax, "mailbox-max", 0, "signals that wait for one instance; 0 means 64")
	flags.IntVar(&m.AwakeMax, "awake-max", 0, "instances awake on one node; 0 means no bound of its own")
	flags.DurationVar(&m.SignalTTL, "signal-ttl", 0, "maximum time for handling one signal; 0 means 30s")
	flags.DurationVar(&m.AttachTTL, "attach-ttl", 0, "time after which an attachment expires unless it is touched; 0 means 1m")
	flags.BoolVar(&track, "track", false, "have each signal leave entries in the thread; where not given, signals of Go and HTTP handlers do once there is a thread")
	flags.StringSliceVar(&m.SkipsPersist, "skips-persist", nil, "top-level fields of the state that are not stored")
	flags.StringVar(&metadata, "metadata", "", "a JSON object, @FILE or - for stdin")
	guard.Define(cmd, true)
	return cmd
}

func (a commands) managersRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm MANAGER…", Short: "Delete managers; what their instances have stored stays", Args: cli.Between(1, -1, "MANAGER…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, name := range args {
				ops = append(ops, &agent.DeleteManager{Name: name})
			}
			return a.remove(cmd, "manager", args, ops)
		},
	}
}

// goPrefix begins the names of handlers that programs have registered.
const goPrefix = "go:"

// handlerOf is a handler as --handler names it. The store judges it.
func handlerOf(text, key string) agent.Handler {
	name, isGo := strings.CutPrefix(text, goPrefix)
	switch {
	case isGo:
		return agent.Handler{Kind: agent.HandlerGo, Name: name, Key: key}
	case strings.Contains(text, "://"):
		return agent.Handler{Kind: agent.HandlerHTTP, URL: text, Key: key}
	default:
		return agent.Handler{Kind: agent.HandlerKind(text), Key: key}
	}
}

// handlerText is a handler as --handler takes it.
func handlerText(h agent.Handler) string {
	switch h.Kind {
	case agent.HandlerGo:
		return goPrefix + h.Name
	case agent.HandlerHTTP:
		return h.URL
	default:
		return string(h.Kind)
	}
}

// orNever is a span, where 0 means that it never ends.
func orNever(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return d.String()
}

func (a commands) printManager(m *agent.Manager) error {
	var g cli.Grid
	g.Add("manager", m.Name)
	g.Add("handler", handlerText(m.Handler))
	if m.Handler.Key != "" {
		g.Add("signed with", m.Handler.Key)
	}
	g.Add("idle timeout", orNever(m.IdleTimeout))
	g.Add("durability", string(m.Durability))
	g.Add("storage", string(m.Storage))
	g.Add("state version", cli.Number(m.Version))
	g.Add("mailbox", cli.Number(m.Mailbox()))
	if m.AwakeMax > 0 {
		g.Add("awake at most", cli.Number(m.AwakeMax))
	}
	g.Add("signal ttl", m.SignalTimeout().String())
	g.Add("attach ttl", m.AttachmentTTL().String())
	if track := m.Tracking(); track != nil {
		g.Add("tracked", kit.Yes(*track))
	}
	if m.SkipsPersist != nil {
		g.Add("not stored", cli.Joined(m.SkipsPersist))
	}
	if len(m.Schedules) > 0 {
		g.Add("schedules", cli.Short(jsontext.Value(m.Schedules)))
	}
	g.Add("metadata", cli.Short(kit.Object(m.Metadata)))
	g.Add("revision", cli.Number(m.Revision))
	g.Add("updated", cli.When(m.UpdatedAt))
	return a.Print(document.ManagerOf(*m), g)
}
