package node

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"dormouse/agent"
	"dormouse/internal/tracing"
)

// slowPerSecond is how many slow calls are logged in a second, and slowBurst at once. A node that is
// slow in all calls must not also be slowed by its log.
const (
	slowPerSecond = 10
	slowBurst     = 50
)

// slowLog logs calls that take long, with the parts of their time. Its methods may be called
// concurrently. A nil slowLog logs none.
type slowLog struct {
	logger  hclog.Logger
	least   time.Duration
	limit   *rate.Limiter
	dropped atomic.Int64 // since the last line
}

// newSlowLog returns a log of the calls that take at least this long; nil if least is 0.
func newSlowLog(logger hclog.Logger, least time.Duration) *slowLog {
	if least == 0 {
		return nil
	}
	return &slowLog{logger: logger, least: least, limit: rate.NewLimiter(slowPerSecond, slowBurst)}
}

// is reports whether a call that took this long is logged.
func (l *slowLog) is(took time.Duration) bool { return l != nil && took >= l.least }

// commit logs a commit: how long it waited in the queue, until its entry was on the disks of a
// majority, and until it was applied; or how long the leader took.
func (l *slowLog) commit(ctx context.Context, c agent.Commit, parts *tracing.Parts, took time.Duration, err error) {
	fields := []any{"call", "commit", "scope", c.Scope, "ops", len(c.Ops)}
	if len(c.Ops) > 0 {
		fields = append(fields, "first", strings.TrimPrefix(fmt.Sprintf("%T", c.Ops[0]), "*agent."))
	}
	if !parts.Packed.IsZero() {
		fields = append(fields, "queue", parts.Waited(), "replicate", parts.Logged(), "apply", parts.Applying)
	}
	if leader := parts.Forwarded(); leader > 0 {
		fields = append(fields, "leader", leader)
	}
	l.write(ctx, fields, took, err)
}

// read logs reads.
func (l *slowLog) read(ctx context.Context, r agent.Reads, took time.Duration, err error) {
	fields := []any{"call", "read", "scope", r.Scope, "reads", len(r.Reads), "stale", r.Stale}
	l.write(ctx, fields, took, err)
}

// instance logs a call of an instance.
func (l *slowLog) instance(ctx context.Context, call string, ref agent.InstanceRef, took time.Duration, err error) {
	l.write(ctx, []any{"call", call, "scope", ref.Scope, "manager", ref.Manager, "key", ref.Key}, took, err)
}

func (l *slowLog) write(ctx context.Context, fields []any, took time.Duration, err error) {
	if !l.limit.Allow() {
		l.dropped.Add(1)
		return
	}
	fields = append(fields, "took", took)
	if err != nil {
		fields = append(fields, "code", agent.CodeOf(err))
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		fields = append(fields, "trace", sc.TraceID().String())
	}
	if dropped := l.dropped.Swap(0); dropped > 0 {
		fields = append(fields, "not_logged_before", dropped)
	}
	l.logger.Warn("slow call", fields...)
}
