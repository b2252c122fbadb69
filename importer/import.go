package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"dormouse/agent"
)

// Options configure imports and verifications of conversations.
type Options struct {
	Scope    string        // "" means agent.DefaultScope
	Copies   int           // of each conversation; 0 means 1
	Rate     float64       // messages a second; 0 means no limit
	Parallel int           // concurrent conversations; 0 means 32
	GiveUp   time.Duration // time without any answer after which it fails; 0 means 2 min
	Progress func(n int)   // called with the number of further messages, from any goroutine; may be nil
}

const (
	parallelDefault = 32
	// differencesMax is how many differences are listed; all are counted.
	differencesMax = 20
	// resumesMax is how often one conversation is resumed because its thread
	// changed: a commit of an interrupted run may still apply.
	resumesMax = 3
)

func (o Options) withDefaults() Options {
	o.Copies = max(o.Copies, 1)
	if o.Parallel <= 0 {
		o.Parallel = parallelDefault
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	return o
}

// Summary is the result of an import.
type Summary struct {
	Conversations int // imported, including copies
	Messages      int // imported by this run
	Already       int // messages that were stored before
	Retries       int64
	Unknown       int64 // commits whose outcome was unknown at first
	Elapsed       time.Duration
	Differences   Differences // of what was stored before
}

// Differences lists where the store differs from the file.
type Differences struct {
	First []string // up to differencesMax
	Count int
}

func (d *Differences) add(format string, args ...any) {
	if d.Count++; d.Count <= differencesMax {
		d.First = append(d.First, fmt.Sprintf(format, args...))
	}
}

func (d *Differences) join(other Differences) {
	d.Count += other.Count
	d.First = append(d.First, other.First[:min(len(other.First), differencesMax-len(d.First))]...)
}

// Import imports conversations. It returns when all are imported, or after an
// error. It does not change conversations that differ from what is stored, and
// lists them in the summary.
func Import(ctx context.Context, s agent.Service, list []Conversation, o Options) (Summary, error) {
	o = o.withDefaults()
	var limiter *rate.Limiter
	if o.Rate > 0 {
		limiter = rate.NewLimiter(rate.Limit(o.Rate), 1)
	}
	began := time.Now()
	var counted counters
	var total totals
	err := forEachCopy(ctx, list, o, func(ctx context.Context, jobs <-chan job) error {
		w := &importWorker{
			client: newRetryClient(s, o.Scope, o.GiveUp, &counted), limiter: limiter, progress: o.Progress, total: &total,
		}
		for j := range jobs {
			if err := w.importConversation(ctx, j); err != nil {
				return fmt.Errorf("import %s (line %d): %w", j.name, j.conversation.Line, err)
			}
		}
		return nil
	})
	return Summary{
		Conversations: int(total.conversations.Load()), Messages: int(total.messages.Load()), Already: int(total.already.Load()),
		Retries: counted.retries.Load(), Unknown: counted.unknown.Load(),
		Elapsed: time.Since(began), Differences: total.differences,
	}, err
}

// job is one copy of a conversation.
type job struct {
	conversation *Conversation
	name         string
}

// forEachCopy passes all copies of all conversations to o.Parallel workers and
// waits for them. The first error ends all workers.
func forEachCopy(ctx context.Context, list []Conversation, o Options, worker func(context.Context, <-chan job) error) error {
	if err := CheckCopies(list, o.Copies); err != nil {
		return err
	}
	workers, ctx := errgroup.WithContext(ctx)
	jobs := make(chan job)
	workers.Go(func() error {
		defer close(jobs)
		for copied := 1; copied <= o.Copies; copied++ {
			for i := range list {
				select {
				case jobs <- job{&list[i], list[i].name(copied)}:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range o.Parallel {
		workers.Go(func() error { return worker(ctx, jobs) })
	}
	return workers.Wait()
}

// totals are the results of all workers.
type totals struct {
	conversations, messages, already atomic.Int64

	mu          sync.Mutex
	differences Differences // guarded by mu
}

// importWorker imports one conversation at a time.
type importWorker struct {
	client   *retryClient
	limiter  *rate.Limiter // nil means no limit
	progress func(int)
	total    *totals
}

// importConversation imports one conversation from the end of the stored thread
// on.
func (w *importWorker) importConversation(ctx context.Context, j job) error {
	reported := 0 // messages reported to progress
	for range resumesMax {
		rev, differences, err := w.resume(ctx, j)
		if err != nil {
			return err
		}
		if differences.Count > 0 {
			w.total.mu.Lock()
			w.total.differences.join(differences)
			w.total.mu.Unlock()
			return nil
		}
		if rev > reported { // after a resume: commits of an interrupted run
			w.total.already.Add(int64(rev - reported))
			w.progress(rev - reported)
			reported = rev
		}
		for rev < len(j.conversation.Messages) {
			if err = w.importMessage(ctx, j, rev); err != nil {
				break
			}
			rev++
			reported = rev
		}
		if err == nil {
			w.total.conversations.Add(1)
			return nil
		}
		if !errors.Is(err, agent.ErrConflict) {
			return fmt.Errorf("message %d: %w", rev, err)
		}
	}
	return agent.Errorf(agent.CodeConflict, "another client keeps writing to the thread: run one import at a time")
}

// importMessage commits one message and the checkpoint after it.
func (w *importWorker) importMessage(ctx context.Context, j job, i int) error {
	if w.limiter != nil {
		if err := w.limiter.Wait(ctx); err != nil {
			return err
		}
	}
	m, rev := j.conversation.Messages[i], uint64(i)
	err := w.client.commit(ctx,
		&agent.AppendThread{
			Thread: j.name, ExpectedRev: &rev,
			Entries: []agent.Draft{{Kind: m.Kind, Payload: m.Payload}},
		},
		&agent.PutCheckpoint{
			Key: j.name, State: j.conversation.state(i + 1),
			Thread: &agent.Pointer{Thread: j.name, Rev: rev + 1},
		})
	if err != nil {
		return err
	}
	w.total.messages.Add(1)
	w.progress(1)
	return nil
}

// resume returns the stored thread's rev, and compares its entries with the
// file.
func (w *importWorker) resume(ctx context.Context, j job) (rev int, d Differences, err error) {
	stored, err := loadStored(ctx, w.client, j.name)
	if err != nil || stored.thread == nil && stored.checkpoint == nil {
		return 0, d, err
	}
	if stored.thread != nil {
		rev = int(stored.thread.Rev)
	}
	stored.compare(&d, j, min(rev, len(j.conversation.Messages)))
	return rev, d, nil
}

// equal reports whether stored JSON has exactly the expected bytes.
func equal(stored, want agent.JSON) bool { return bytes.Equal(stored, want) }
