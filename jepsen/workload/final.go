package workload

import (
	"context"
	"fmt"
	"time"
)

const (
	finalTries = 10 // of one key, each as long as a call may take
	finalRest  = 200 * time.Millisecond
)

// finalReads makes the final read of every key. One that fails is tried again,
// since the judge cannot do without it.
func finalReads(ctx context.Context, keys []string, read func(key string) error) error {
	for _, key := range keys {
		for try := 1; ; try++ {
			err := read(key)
			if err == nil {
				break
			}
			if try == finalTries || ctx.Err() != nil {
				return fmt.Errorf("final read of %s: %w", key, err)
			}
			hang(ctx, finalRest)
		}
	}
	return nil
}
