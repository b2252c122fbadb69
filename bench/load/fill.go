package load

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// entriesAtOnce bounds the entries of one commit of a fill.
const entriesAtOnce = 100

// filler writes agents in their initial state. It may be used concurrently.
type filler struct {
	d          Driver
	checkpoint []byte
	entries    int
	batch      [][]byte // the entries of one commit
}

func newFiller(d Driver, s stored) *filler {
	f := &filler{d: d, checkpoint: payloads(s.checkpoint)[0], entries: s.entries}
	entry := payloads(entryBytes)[0]
	for range min(s.entries, entriesAtOnce) {
		f.batch = append(f.batch, entry)
	}
	return f
}

// write writes an agent. The last commit has the checkpoint.
func (f *filler) write(ctx context.Context, t *Thread) error {
	if f.entries == 0 {
		return f.d.Put(ctx, t.ID, f.checkpoint)
	}
	left := f.entries
	for ; left > entriesAtOnce; left -= entriesAtOnce {
		if err := f.d.Append(ctx, t, f.batch...); err != nil {
			return err
		}
	}
	return f.d.Turn(ctx, t, f.checkpoint, f.batch[:left]...)
}

// Fill is a population of agents to write.
type Fill struct {
	Prefix     string // prefix of their names, as in Options
	First      int    // number of the first agent
	Agents     int
	Checkpoint int       // bytes of each checkpoint
	Entries    int       // number of entries of 300 B in each thread
	Progress   func(int) // called with the number of newly written agents; may be nil
}

// Write writes the population, many agents in parallel.
func (f Fill) Write(ctx context.Context, d Driver) error {
	w := newFiller(d, stored{f.Checkpoint, f.Entries})
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(preparers)
	for n := f.First; n < f.First+f.Agents && ctx.Err() == nil; n++ {
		g.Go(func() error {
			if err := w.write(ctx, &Thread{ID: agentID(f.Prefix, n)}); err != nil {
				return fmt.Errorf("write agent %d: %w", n, err)
			}
			if f.Progress != nil {
				f.Progress(1)
			}
			return nil
		})
	}
	return g.Wait()
}
