package workload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// FinalTries bounds the tries of a final read of a key, and FinalRest is the wait
// after each try.
const (
	FinalTries = 10 // of one key, each as long as a call may take
	FinalRest  = 200 * time.Millisecond
)

// FinalReads makes the final read of every key. It repeats a failed read, because the
// checker needs it. The error has the keys that could not be read, up to the one at which ctx ended.
func FinalReads(ctx context.Context, keys []string, read func(key string) error) error {
	var failed error
	for _, key := range keys {
		for try := 1; ; try++ {
			err := read(key)
			if err == nil {
				break
			}
			if try == FinalTries || ctx.Err() != nil {
				failed = errors.Join(failed, fmt.Errorf("final read of %s: %w", key, err))
				break
			}
			Hang(ctx, FinalRest)
		}
		if ctx.Err() != nil && failed != nil {
			break
		}
	}
	return failed
}
