package load

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// entriesAtOnce bounds what one commit of a fill appends.
const entriesAtOnce = 100

// store writes an agent as it is before the first call.
func store(ctx context.Context, d Driver, t *Thread, s stored) error {
	checkpoint := payloads(s.checkpoint)[0]
	if s.entries == 0 {
		return d.Put(ctx, t.ID, checkpoint)
	}
	entry := payloads(entryBytes)[0]
	for left := s.entries; left > 0; {
		n := min(left, entriesAtOnce)
		left -= n
		batch := make([][]byte, n)
		for i := range batch {
			batch[i] = entry
		}
		if left > 0 {
			if err := d.Append(ctx, t, batch...); err != nil {
				return err
			}
		} else if err := d.Turn(ctx, t, checkpoint, batch...); err != nil {
			return err
		}
	}
	return nil
}

// Fill is a population of agents to be written.
type Fill struct {
	Prefix     string // of their names, as in Options
	First      int    // the first one's number
	Agents     int
	Checkpoint int       // bytes of each one's checkpoint
	Entries    int       // of 300 B in each one's thread
	Progress   func(int) // told of so many more; nil means nobody is
}

// Write writes the population, many agents at a time.
func (f Fill) Write(ctx context.Context, d Driver) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(preparers)
	for n := f.First; n < f.First+f.Agents && ctx.Err() == nil; n++ {
		g.Go(func() error {
			if err := store(ctx, d, &Thread{ID: agentID(f.Prefix, n)}, stored{f.Checkpoint, f.Entries}); err != nil {
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
