package mcp

import (
	"log"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Limits of the lines about errors of net/http itself, such as failed TLS handshakes, which any client
// can cause.
const (
	errorsBurst = 20
	errorsEvery = time.Second // one more line
)

// boundedLog tells lines within the limits, and drops the others.
type boundedLog struct {
	tell  func(format string, args ...any)
	limit *rate.Limiter
}

// errorLog returns the logger of an HTTP server's own errors.
func errorLog(tell func(format string, args ...any)) *log.Logger {
	return log.New(&boundedLog{tell, rate.NewLimiter(rate.Every(errorsEvery), errorsBurst)}, "", 0)
}

// Write implements io.Writer.
func (b *boundedLog) Write(line []byte) (int, error) {
	if b.limit.Allow() {
		b.tell("the HTTP server had an error: %s", strings.TrimSpace(string(line)))
	}
	return len(line), nil
}
