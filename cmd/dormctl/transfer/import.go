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

const importLong = `import creates an agent for each conversation in FILE, which holds one a line:

  {"id": "…", "agent"?, "user"?, "reward"?, "messages": [{"role": "…", …}, …]}

Each message is one commit: an entry in the thread named like the conversation,
and the checkpoint of that name, which points to it. Conversations are imported
in parallel, the messages of each in order. Run an interrupted import again to
continue it: what is stored already is compared with the file, and is not changed if
it differs.

--verify imports nothing: it compares every thread and checkpoint with the file,
byte for byte, through each of the --endpoints.

--sessions creates a session for each conversation instead, and runs its turns again.
Each message of a user is a request. The messages up to the next one are its turn,
and each tool call is an effect with an idempotency class, answered from the file.
The turns are claimed, checkpointed and committed by --workers processes that
compete for them. At the end, the result is compared with the file; "dormctl sessions
replay ID" reads like the conversation.

--instances creates a live instance for each conversation, under the manager
"conversations". The instance is attached while its user is present, and each message
is a signal. Between turns the user is away for longer than --idle, so the instance
hibernates. At the end a timer wakes it once more.

--raw imports the scope file that "dormctl export" wrote instead, byte for byte,
into --scope, which must hold nothing. Until all rows are stored and have been
compared with the file, the scope accepts no other reads and writes. Run an
interrupted import again to continue it; "dormctl scopes rm" abandons it. --raw --verify compares a scope with the file, row by row.`

func importCommand(a *kit.App) *cobra.Command {
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
				return importRaw(cmd.Context(), a, args[0], verify, o.GiveUp)
			}
			work.Options, work.path = o, args[0]
			if err := work.valid(); err != nil {
				return err
			}
			list, err := ReadTranscripts(args[0])
			if err != nil {
				return err
			}
			if err := importer.CheckCopies(list, o.Copies); err != nil {
				return cli.Usagef("%s: %w", args[0], err)
			}
			if instances {
				return importLive(cmd.Context(), a, list, importer.InstanceOptions{Options: o, Idle: idle}, verify)
			}
			return importList(cmd.Context(), a, list, work, sessions, verify)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Copies, "copies", 1, "import each conversation this many times; the copies are named ID#2, ID#3, …")
	flags.Float64Var(&o.Rate, "rate", 0, "messages a second; 0 means as many as possible")
	flags.IntVar(&o.Parallel, "parallel", 32, "conversations at once")
	flags.DurationVar(&o.GiveUp, "give-up", 2*time.Minute, "end after this time without an answer")
	flags.BoolVar(&verify, "verify", false, "import nothing, but compare what is stored with the file through each endpoint")
	flags.BoolVar(&raw, "raw", false, "FILE is what export wrote")
	flags.BoolVar(&sessions, "sessions", false, "make sessions of the conversations, and run their turns")
	flags.BoolVar(&instances, "instances", false, "make live instances of the conversations, driven by signals")
	flags.DurationVar(&idle, "idle", 0, "idle time before an instance hibernates: half of a user's absence between turns (default 500ms)")
	flags.IntVar(&work.workers, "workers", 8, "processes that compete for the turns of --sessions")
	flags.DurationVar(&work.ttl, "ttl", 5*time.Second, "of the workers' leases: another worker takes over the turn of a failed one after this time")
	flags.IntVar(&work.worker, "worker", 0, "run as the worker with this number")
	_ = flags.MarkHidden("worker") // it is there
	return cmd
}

func importList(ctx context.Context, a *kit.App, list []importer.Conversation, work sessionImport, sessions, verify bool) error {
	switch {
	case sessions && verify:
		return verifySessions(ctx, a, list, work.Options)
	case sessions:
		return importSessions(ctx, a, list, work)
	case verify:
		return verifyImport(ctx, a, list, work.Options)
	default:
		return importTranscripts(ctx, a, list, work.Options)
	}
}

// ReadTranscripts reads the conversations of a file, with a usage error if it is
// invalid.
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

func importTranscripts(ctx context.Context, a *kit.App, list []importer.Conversation, o importer.Options) error {
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", importer.Messages(list)*o.Copies, "messages")
		o.Progress = bar.Add
		summary, err := importer.Import(ctx, s, list, o)
		bar.End()
		if err != nil {
			return unfinished(ctx, err, againHint)
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

// againHint is the hint of an import that has failed.
const againHint = "run the same command again to continue where it ended"

// unfinished is interrupted for a command that has begun to change something: its exit code never says that nothing
// was applied.
func unfinished(ctx context.Context, err error, hint string) error {
	err = interrupted(ctx, err, hint)
	if kit.ExitCode(err) == kit.ExitUnavailable {
		return kit.Exit(kit.ExitFailed, err)
	}
	return err
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

func verifyImport(ctx context.Context, a *kit.App, list []importer.Conversation, o importer.Options) error {
	total := importer.Messages(list) * o.Copies
	return verifyEach(ctx, a, total, "messages", func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error) {
		o.Progress = progress
		report, err := importer.Verify(ctx, s, list, o)
		return verifiedDoc{Nodes: report.Nodes, Agents: report.Conversations, Entries: report.Entries}, report.Differences, err
	})
}

// verifyEach verifies through each endpoint alone, so that each node has to
// answer for itself.
func verifyEach(
	ctx context.Context, a *kit.App, total int, unit string,
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
		doc, differences, err := verifyThrough(ctx, a, endpoint, bar, verify)
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

func verifyThrough(
	ctx context.Context, a *kit.App, endpoint string, bar *cli.Progress,
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

func importRaw(ctx context.Context, a *kit.App, path string, verify bool, giveUp time.Duration) error {
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
		return verifyRaw(ctx, a, open, total, o)
	}
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", total, "rows")
		o.Progress = bar.Add
		summary, err := importer.ImportScope(ctx, s, open, o)
		bar.End()
		if err != nil {
			return unfinished(ctx, fmt.Errorf("%s: %w", path, err), againHint)
		}
		err = printScope(a, summary, cmp.Or(a.Scope, agent.DefaultScope))
		return errors.Join(err, differ(summary.Differences, "the file was imported before, and the scope has changed since"))
	})
}

// countRows validates a whole scope file and returns the number of its rows.
func countRows(open func() (io.ReadCloser, error)) (total int, err error) {
	summary, err := importer.CheckScopeFile(open)
	return int(summary.Footer.Rows), err
}

func verifyRaw(ctx context.Context, a *kit.App, open func() (io.ReadCloser, error), total int, o importer.ScopeOptions) error {
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "verifying", total, "rows")
		o.Progress = bar.Add
		summary, err := importer.VerifyScope(ctx, s, open, o)
		bar.End()
		if err != nil {
			return interrupted(ctx, err, "nothing was changed")
		}
		err = printScope(a, summary, cmp.Or(a.Scope, agent.DefaultScope))
		return errors.Join(err, differ(summary.Differences, "the scope differs from the file"))
	})
}
