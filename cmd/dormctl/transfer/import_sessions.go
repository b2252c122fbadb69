package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"dormouse/cmd/dormctl/kit"
	"dormouse/importer"
	"dormouse/internal/cli"
)

// sessionImport holds the options of import --sessions.
type sessionImport struct {
	importer.Options
	path    string
	workers int           // processes that compete for the turns
	worker  int           // number of this worker process, from 1; 0 means the parent
	ttl     time.Duration // ttl of the workers' leases
}

const sessionWorkersMax = 64

func (o sessionImport) valid() error {
	if o.workers < 1 || o.workers > sessionWorkersMax || o.ttl < time.Second {
		return cli.Usagef("--workers must be from 1 to %d, --ttl at least 1s", sessionWorkersMax)
	}
	return nil
}

// workerLine is a line of a worker's stdout, which its parent reads.
type workerLine struct {
	Messages int              `json:"messages,omitempty"` // messages since the last line
	Done     *importer.Worked `json:"done,omitempty"`     // totals, in the last line
}

// importSessions starts the sessions, has workers run their turns, and compares
// what is there then with the file.
func importSessions(ctx context.Context, a *kit.App, list []importer.Conversation, o sessionImport) error {
	if o.worker > 0 {
		return workSessions(ctx, a, list, o)
	}
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		began := time.Now()
		already, err := importer.StartSessions(ctx, s, list, o.Options)
		if err != nil {
			return unfinished(ctx, err, againHint)
		}
		shareStderr(a)
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", importer.Messages(list)*max(o.Copies, 1), "messages")
		bar.Add(already)
		did, err := runWorkers(ctx, a, o, bar.Add)
		bar.End()
		if err != nil {
			return unfinished(ctx, err, againHint)
		}
		elapsed := time.Since(began)
		found, err := importer.VerifySessions(ctx, s, list, o.Options)
		if err != nil {
			return unfinished(ctx, err, "everything was imported, but not compared with the file")
		}
		err = printSessions(a, ImportedSessions{
			Conversations: found.Conversations, Turns: did.Turns, Messages: did.Messages, Already: already, Workers: o.workers,
			Calls: did.Calls, Recovered: did.Recovered, Beaten: did.Beaten, Lost: did.Lost, Seconds: elapsed.Seconds(),
			Speed: float64(did.Messages) / max(elapsed.Seconds(), 1e-3), Differences: found.Differences.Count,
		})
		return errors.Join(err, differ(found.Differences, "stored data differs from the file"))
	})
}

// ImportedSessions is the result of import --sessions.
type ImportedSessions struct {
	Conversations int     `json:"conversations"`
	Turns         int     `json:"turns"`
	Messages      int     `json:"messages"`
	Already       int     `json:"already"`
	Workers       int     `json:"workers"`
	Calls         int     `json:"tool_calls"`
	Recovered     int     `json:"turns_recovered"`
	Beaten        int     `json:"turns_taken_by_another"`
	Lost          int     `json:"turns_lost"`
	Seconds       float64 `json:"seconds"`
	Speed         float64 `json:"messages_per_second"`
	Differences   int     `json:"differences"`
}

func printSessions(a *kit.App, doc ImportedSessions) error {
	var g cli.Grid
	g.Add("conversations", cli.Number(doc.Conversations))
	g.Add("turns", cli.Number(doc.Turns))
	g.Add("messages", cli.Number(doc.Messages))
	g.Add("already there", cli.Number(doc.Already))
	g.Add("workers", cli.Number(doc.Workers))
	g.Add("tool calls", cli.Number(doc.Calls))
	g.Add("turns recovered", cli.Number(doc.Recovered))
	g.Add("turns taken by another", cli.Number(doc.Beaten))
	g.Add("turns lost", cli.Number(doc.Lost))
	g.Add("seconds", fmt.Sprintf("%.1f", doc.Seconds))
	g.Add("messages/s", fmt.Sprintf("%.0f", doc.Speed))
	g.Add("differences", cli.Number(doc.Differences))
	return a.Print(doc, g)
}

// runWorkers runs the workers, each in a process of its own, until all have
// ended.
func runWorkers(ctx context.Context, a *kit.App, o sessionImport, progress func(int)) (did importer.Worked, err error) {
	shareStderr(a)
	var running sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	for n := 1; n <= o.workers; n++ {
		running.Go(func() {
			one, err := runWorker(ctx, a, o, n, progress)
			mu.Lock()
			defer mu.Unlock()
			did.Add(one)
			if err != nil {
				failures = append(failures, fmt.Errorf("worker %d: %w", n, err))
			}
		})
	}
	running.Wait()
	return did, errors.Join(failures...)
}

// shareStderr lets several processes, and this one, write to stderr at once:
// unless it is a file, each process's is copied by a goroutine of its own.
func shareStderr(a *kit.App) {
	if _, shared := a.Stderr.(*sharedWriter); !shared {
		a.Stderr = &sharedWriter{to: a.Stderr}
	}
}

// sharedWriter is an io.Writer that is safe for concurrent use.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer // guarded by mu
}

// Write implements io.Writer.
func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// workerStops is the time that a worker has to end after it was told to stop.
const workerStops = 10 * time.Second

func runWorker(ctx context.Context, a *kit.App, o sessionImport, n int, progress func(int)) (did importer.Worked, err error) {
	cmd := exec.CommandContext(ctx, a.Self, workerArgs(a, o, n)...)
	cmd.Stderr = a.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = workerStops
	out, err := cmd.StdoutPipe()
	if err != nil {
		return did, fmt.Errorf("start: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return did, fmt.Errorf("start: %w", err)
	}
	ended := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var line workerLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			continue // not from dormctl; the exit code shows failures
		}
		if line.Done != nil {
			did, ended = *line.Done, true
		}
		if line.Messages > 0 {
			progress(line.Messages)
		}
	}
	if err := cmd.Wait(); err != nil {
		return did, err
	}
	if !ended {
		return did, errors.New("it ended without a result")
	}
	return did, nil
}

// workerArgs is the command line of a worker: its parent's, and its number. A worker reads the
// environment too, so it is told also that there is no CA, certificate, key or cluster id.
func workerArgs(a *kit.App, o sessionImport, n int) []string {
	args := []string{
		"import", o.path, "--sessions", "--worker", strconv.Itoa(n), "--workers", strconv.Itoa(o.workers), "--ttl", o.ttl.String(),
		"--copies", strconv.Itoa(o.Copies), "--rate", strconv.FormatFloat(o.Rate, 'g', -1, 64), "--give-up", o.GiveUp.String(),
		"--endpoints", a.Endpoints, "--scope", a.Scope, "--insecure=" + strconv.FormatBool(a.Insecure),
		"--ca", a.Ca, "--cert", a.Cert, "--key", a.Key, "--cluster-id", a.ClusterID,
	}
	if a.TokenFile != "" {
		args = append(args, "--token-file", a.TokenFile)
	}
	return args
}

// workSessions is one of the workers: it tells its parent on stdout, a line of
// JSON each.
func workSessions(ctx context.Context, a *kit.App, list []importer.Conversation, o sessionImport) error {
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		lines := json.NewEncoder(a.Stdout)
		var broken error // a failed report does not stop the work
		o.Progress = func(n int) { broken = errors.Join(broken, lines.Encode(workerLine{Messages: n})) }
		o.Rate /= float64(o.workers)
		did, err := importer.Work(ctx, s, list, importer.WorkOptions{
			Options: o.Options, Owner: fmt.Sprintf("import-%d", o.worker), TTL: o.ttl,
		})
		return errors.Join(err, broken, lines.Encode(workerLine{Done: &did}))
	})
}

func verifySessions(ctx context.Context, a *kit.App, list []importer.Conversation, o importer.Options) error {
	total := importer.Messages(list) * o.Copies
	return verifyEach(ctx, a, total, "messages", func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error) {
		o.Progress = progress
		report, err := importer.VerifySessions(ctx, s, list, o)
		return verifiedDoc{Nodes: report.Nodes, Agents: report.Conversations, Entries: report.Entries}, report.Differences, err
	})
}
