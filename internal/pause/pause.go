// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. It reports whether ctx has not ended.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
