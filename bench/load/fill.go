package load

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// entriesAtOnce bounds the entries of one commit of a fill.
const entriesAtOnce = 100

// filler writes agents in their initial state, each with payloads of its own. It may be used concurrently.
type filler struct {
	d      Driver
	stored stored
}

// write writes an agent. The last commit has the checkpoint.
func (f *filler) write(ctx context.Context, t *Thread) error {
	checkpoint := payloadOf(t.ID, f.stored.checkpoint)
	if f.stored.entries == 0 {
		return f.d.Put(ctx, t.ID, checkpoint)
	}
	entries := func(n int) [][]byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = payloadOf(fmt.Sprintf("%s/%d", t.ID, t.Rev+uint64(i)), entryBytes)
		}
		return list
	}
	left := f.stored.entries
	for ; left > entriesAtOnce; left -= entriesAtOnce {
		if err := f.d.Append(ctx, t, entries(entriesAtOnce)...); err != nil {
			return err
		}
	}
	return f.d.Turn(ctx, t, checkpoint, entries(left)...)
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
	w := &filler{d, stored{f.Checkpoint, f.Entries}}
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
