package main

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func managersCommand(a *kit.App) *cobra.Command {
	cmd := cli.Group("managers", "Managers: settings of the instances of one kind", managersList(a), managersShow(a), managersPut(a), managersRemove(a))
	cmd.Long = `A manager defines a kind of instances: which handler runs them, how long they stay
awake, and what is stored. An instance is one key of a manager; see
dormctl instances.`
	return cmd
}

func managersList(a *kit.App) *cobra.Command {
	read := func(page agent.Page) agent.Read { return &agent.ListManagers{Page: page} }
	return kit.List(a, "List managers", read, func(list *agent.ManagerList) error {
		g := cli.Grid{Head: []string{"manager", "handler", "idle timeout", "durability", "storage", "version", "revision"}, Note: kit.More(list.Next)}
		for i := range list.Items {
			m := &list.Items[i]
			g.Add(m.Name, handlerText(m.Handler), orNever(m.IdleTimeout), string(m.Durability), string(m.Storage), cli.Number(m.Version), cli.Number(m.Revision))
		}
		return a.Print(document.ListOf(list.Items, list.Next, document.ManagerOf), g)
	})
}

func managersShow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "get MANAGER", Aliases: []string{"show"}, Short: "Show a manager", Args: cli.Exactly("MANAGER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return kit.Show(a, cmd, &agent.GetManager{Name: args[0]}, func(m *agent.Manager) error {
				return printManager(a, m)
			})
		},
	}
}

func managersPut(a *kit.App) *cobra.Command {
	var m agent.Manager
	var handler, signWith, durability, storage, metadata string
	var track bool
	var guard kit.GuardFlags
	cmd := &cobra.Command{
		Use: "put MANAGER", Short: "Create or replace a manager", Args: cli.Exactly("MANAGER"),
		Long: `put replaces a manager: settings without a flag get their defaults. Instances that are
awake see the change within a second; a new handler, version or storage makes them
thaw again.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			m.Name, m.Handler, m.Durability, m.Storage = args[0], handlerOf(handler, signWith), agent.Durability(durability), agent.Keeping(storage)
			if cmd.Flags().Changed("track") {
				m.SetTracking(&track)
			}
			if m.Metadata, err = a.OptionalObject("--metadata", metadata); err != nil {
				return err
			}
			return kit.Change(a, cmd, &agent.PutManager{Manager: m, IfRevision: guard.Revision()}, func(put *agent.ManagerResult) error {
				return printManager(a, &put.Manager)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&handler, "handler", string(agent.HandlerDocument), "what handles signals: document, go:NAME as a program has registered it, or a URL")
	flags.StringVar(&signWith, "sign-with", "", "of a URL: which of the nodes' keys signs requests")
	flags.DurationVar(&m.IdleTimeout, "idle-timeout", 0, "hibernate an instance after this time without an attachment or a signal; 0 means never")
	flags.StringVar(&durability, "durability", "", "turn (store each signal before its reply) or idle (store at hibernation)")
	flags.StringVar(&storage, "storage", "", "cluster, or none: the state of an instance is lost when it hibernates")
	flags.Uint64Var(&m.Version, "state-version", 0, "version of the state that the handler reads; 0 means 1")
	flags.IntVar(&m.MailboxMax, "mailbox-max", 0, "how many signals may wait for one instance; 0 means 64")
	flags.IntVar(&m.AwakeMax, "awake-max", 0, "how many instances may be awake on one node; 0 means no limit")
	flags.DurationVar(&m.SignalTTL, "signal-ttl", 0, "maximum time for handling one signal; 0 means 30s")
	flags.DurationVar(&m.AttachTTL, "attach-ttl", 0, "an attachment expires after this time without a touch; 0 means 1m")
	flags.BoolVar(&track, "track", false, "record each signal in the thread (default: signals of Go and HTTP handlers, once there is a thread)")
	flags.StringSliceVar(&m.SkipsPersist, "skips-persist", nil, "top-level fields of the state that are not stored")
	flags.StringVar(&metadata, "metadata", "", "a JSON object, @FILE or - for stdin")
	guard.Define(cmd, true)
	return cmd
}

func managersRemove(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "rm MANAGER…", Short: "Delete managers; the stored data of their instances stays", Args: cli.Between(1, -1, "MANAGER…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ops []agent.Op
			for _, name := range args {
				ops = append(ops, &agent.DeleteManager{Name: name})
			}
			return remove(a, cmd, "manager", args, ops)
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

func printManager(a *kit.App, m *agent.Manager) error {
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
