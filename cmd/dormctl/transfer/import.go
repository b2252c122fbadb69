package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/importer"
	"dormouse/internal/cli"
)

const importLong = `import creates an agent for each conversation in FILE, one conversation a line:

  {"id": "…", "agent"?, "user"?, "reward"?, "messages": [{"role": "…", …}, …]}

Each message is one commit: an entry in the thread named like the conversation,
and the checkpoint of that name, which points to it. Conversations are imported
in parallel, the messages of each in order. An interrupted import continues where
it ended when it is run again. It first compares the stored messages with the file,
and does not change those that differ.

--verify imports nothing: it compares every thread and checkpoint with the file,
byte for byte, through each of the --endpoints.

--sessions creates a session for each conversation instead, and replays its turns.
Each message of a user is a request, and the messages up to the next one are its
turn. Each tool call is an effect with an idempotency class; its result comes from
the file. --workers processes compete to claim, checkpoint and commit the turns. At
the end the sessions are compared with the file; "dormctl sessions replay ID" shows
the conversation.

--instances creates a live instance for each conversation, of the manager
"conversations". The user is attached during a turn, and each message is a signal.
Between turns the user is away for longer than --idle, so the instance hibernates.
At the end a timer wakes it once more.

--raw imports the scope file that "dormctl export" wrote instead, byte for byte,
into --scope, which must be empty. All other reads and writes of the scope are
refused until all rows are imported and compared with the file. An interrupted
import continues where it ended when it is run again; "dormctl scopes rm" abandons
it. --raw --verify compares a scope with the file, row by row.`

func (a commands) importCommand() *cobra.Command {
	var o importer.Options
	var verify, raw, sessions, instances bool
	var idle time.Duration
	work := sessionImport{}
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import conversations, or compare stored ones with a file", Args: cli.Exactly("FILE"),
		Long: importLong,
		Example: `  dormctl import transcripts.jsonl
  dormctl import transcripts.jsonl --copies 20 --rate 500
  dormctl import transcripts.jsonl --sessions --workers 8
  dormctl import transcripts.jsonl --instances --idle 1s
  dormctl import transcripts.jsonl --verify --endpoints 127.0.0.1:7601,127.0.0.1:7611`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Copies < 1 || o.Parallel < 1 || o.Rate < 0 {
				return cli.Usagef("--copies and --parallel must be at least 1, --rate at least 0")
			}
			o.Scope = a.Scope
			switch {
			case a.Fence.Fence != nil:
				return cli.Usagef("import does not support fences: leave --fence out")
			case raw && cmd.Flags().Changed("copies"):
				return cli.Usagef("--copies is for transcripts, not for --raw")
			case raw && (sessions || instances):
				return cli.Usagef("--sessions and --instances are for transcripts, not for --raw")
			case sessions && instances:
				return cli.Usagef("give --sessions or --instances, not both")
			case idle < 0:
				return cli.Usagef("--idle must not be negative")
			case raw:
				return a.importRaw(cmd.Context(), args[0], verify, o.GiveUp)
			}
			work.Options, work.path = o, args[0]
			if err := work.valid(); err != nil {
				return err
			}
			list, err := ReadTranscripts(args[0])
			if err != nil {
				return err
			}
			if instances {
				return a.importLive(cmd.Context(), list, importer.InstanceOptions{Options: o, Idle: idle}, verify)
			}
			return a.importList(cmd.Context(), list, work, sessions, verify)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Copies, "copies", 1, "number of times to import each conversation; the copies are named ID#2, ID#3, …")
	flags.Float64Var(&o.Rate, "rate", 0, "messages per second; 0 means no limit")
	flags.IntVar(&o.Parallel, "parallel", 32, "number of conversations imported concurrently")
	flags.DurationVar(&o.GiveUp, "give-up", 2*time.Minute, "stop when no request was answered for this time")
	flags.BoolVar(&verify, "verify", false, "import nothing; compare the stored data with the file through each endpoint")
	flags.BoolVar(&raw, "raw", false, "FILE is a scope file that export wrote")
	flags.BoolVar(&sessions, "sessions", false, "import conversations as sessions, and replay their turns")
	flags.BoolVar(&instances, "instances", false, "import conversations as live instances, driven by signals")
	flags.DurationVar(&idle, "idle", 0, "idle timeout of an instance; a user is away twice as long between turns (default 500ms)")
	flags.IntVar(&work.workers, "workers", 8, "number of processes that compete for the turns of --sessions")
	flags.DurationVar(&work.ttl, "ttl", 5*time.Second, "ttl of the workers' leases: a turn of a dead worker is recovered after this time")
	flags.IntVar(&work.worker, "worker", 0, "run as the worker with this number")
	_ = flags.MarkHidden("worker") // the flag exists
	return cmd
}

func (a commands) importList(ctx context.Context, list []importer.Conversation, work sessionImport, sessions, verify bool) error {
	switch {
	case sessions && verify:
		return a.verifySessions(ctx, list, work.Options)
	case sessions:
		return a.importSessions(ctx, list, work)
	case verify:
		return a.verifyImport(ctx, list, work.Options)
	default:
		return a.importTranscripts(ctx, list, work.Options)
	}
}

// ReadTranscripts reads the conversations in the file at path.
func ReadTranscripts(path string) (list []importer.Conversation, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.Usagef("import: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	if list, err = importer.ReadTranscripts(file); err != nil {
		return nil, cli.Usagef("%s: %w", path, err)
	}
	return list, nil
}

func (a commands) importTranscripts(ctx context.Context, list []importer.Conversation, o importer.Options) error {
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", importer.Messages(list)*o.Copies, "messages")
		o.Progress = bar.Add
		summary, err := importer.Import(ctx, s, list, o)
		bar.End()
		if err != nil {
			return interrupted(ctx, err, "run the same command again to continue where it ended")
		}
		addSettled(s, &summary)
		doc := importedOf(summary)
		g := doc.grid()
		g.Add("unknown, then settled", cli.Number(summary.Unknown))
		g.Add("differences", cli.Number(summary.Differences.Count))
		err = a.Print(struct {
			importedDoc
			Unknown     int64 `json:"unknown_settled"`
			Differences int   `json:"differences"`
		}{doc, summary.Unknown, summary.Differences.Count}, g)
		return errors.Join(err, differ(summary.Differences, "stored data differs from the file and was not changed"))
	})
}

// interrupted returns the error of a command that failed or was interrupted, with a
// hint.
func interrupted(ctx context.Context, err error, hint string) error {
	if ctx.Err() != nil {
		return kit.Exit(kit.ExitFailed, fmt.Errorf("interrupted; %s", hint))
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// differ returns an error that lists the first differences; nil if d has none.
func differ(d importer.Differences, what string) error {
	if d.Count == 0 {
		return nil
	}
	lines := append([]string{fmt.Sprintf("%s in %d places:", what, d.Count)}, d.First...)
	if rest := d.Count - len(d.First); rest > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", rest))
	}
	return kit.Exit(kit.ExitFailed, errors.New(strings.Join(lines, "\n  ")))
}

// verifiedDoc is the result of a verification through one endpoint.
type verifiedDoc struct {
	Endpoint    string   `json:"endpoint"`
	Nodes       []string `json:"nodes"`
	Agents      int      `json:"agents"`
	Entries     int      `json:"entries"`
	Differences int      `json:"differences"`
	First       []string `json:"first"`
}

func (a commands) verifyImport(ctx context.Context, list []importer.Conversation, o importer.Options) error {
	total := importer.Messages(list) * o.Copies
	return a.verifyEach(ctx, total, "messages", func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error) {
		o.Progress = progress
		report, err := importer.Verify(ctx, s, list, o)
		return verifiedDoc{Nodes: report.Nodes, Agents: report.Conversations, Entries: report.Entries}, report.Differences, err
	})
}

// verifyEach verifies through each endpoint separately, so that each node is compared
// with the file.
func (a commands) verifyEach(
	ctx context.Context, total int, unit string,
	verify func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error),
) error {
	endpoints, err := a.EndpointList()
	if err != nil {
		return err
	}
	var docs []verifiedDoc
	var all []error
	g := cli.Grid{Head: []string{"endpoint", "node", "agents", "entries", "differences"}}
	for _, endpoint := range endpoints {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "verifying through "+endpoint, total, unit)
		doc, differences, err := a.verifyThrough(ctx, endpoint, bar, verify)
		if err != nil {
			return interrupted(ctx, err, "nothing was changed")
		}
		doc.Endpoint, doc.Differences, doc.First = endpoint, differences.Count, append([]string{}, differences.First...)
		docs = append(docs, doc)
		g.Add(endpoint, cli.Joined(doc.Nodes), cli.Number(doc.Agents), cli.Number(doc.Entries), cli.Number(doc.Differences))
		all = append(all, differ(differences, "through "+endpoint+" the store differs from the file"))
	}
	err = a.Print(struct {
		Items []verifiedDoc `json:"items"`
	}{docs}, g)
	return errors.Join(append(all, err)...)
}

func (a commands) verifyThrough(
	ctx context.Context, endpoint string, bar *cli.Progress,
	verify func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error),
) (doc verifiedDoc, d importer.Differences, err error) {
	s, err := a.Open([]string{endpoint}, true)
	if err != nil {
		return doc, d, fmt.Errorf("dial %s: %w", endpoint, err)
	}
	defer func() {
		bar.End()
		err = errors.Join(err, s.Close())
	}()
	doc, d, err = verify(ctx, s, bar.Add)
	if err != nil {
		return doc, d, fmt.Errorf("through %s: %w", endpoint, err)
	}
	return doc, d, nil
}

func (a commands) importRaw(ctx context.Context, path string, verify bool, giveUp time.Duration) error {
	open := func() (io.ReadCloser, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, cli.Usagef("import: %w", err)
		}
		return file, nil
	}
	total, err := countRows(open)
	if err != nil {
		return cli.Usagef("%s: %w", path, err)
	}
	o := importer.ScopeOptions{Scope: a.Scope, GiveUp: giveUp}
	if verify {
		return a.verifyRaw(ctx, open, total, o)
	}
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", total, "rows")
		o.Progress = bar.Add
		summary, err := importer.ImportScope(ctx, s, open, o)
		bar.End()
		if err != nil {
			return interrupted(ctx, fmt.Errorf("%s: %w", path, err), "run the same command again to continue where it ended")
		}
		err = a.printScope(summary, cmp.Or(a.Scope, agent.DefaultScope))
		return errors.Join(err, differ(summary.Differences, "the file was imported before, and the scope has changed since"))
	})
}

// countRows validates a whole scope file and returns the number of its rows.
func countRows(open func() (io.ReadCloser, error)) (total int, err error) {
	summary, err := importer.CheckScopeFile(open)
	return int(summary.Footer.Rows), err
}

func (a commands) verifyRaw(ctx context.Context, open func() (io.ReadCloser, error), total int, o importer.ScopeOptions) error {
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "verifying", total, "rows")
		o.Progress = bar.Add
		summary, err := importer.VerifyScope(ctx, s, open, o)
		bar.End()
		if err != nil {
			return interrupted(ctx, err, "nothing was changed")
		}
		err = a.printScope(summary, cmp.Or(a.Scope, agent.DefaultScope))
		return errors.Join(err, differ(summary.Differences, "the scope differs from the file"))
	})
}
