package node

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/tracing"
)

// slowPerSecond is how many slow calls are logged in a second, and slowBurst at once. A node that is
// slow in all calls must not also be slowed by its log.
const (
	slowPerSecond = 10
	slowBurst     = 50
)

// slowMessage is the message of a line of the log.
const slowMessage = "slow call"

// slowKept is how many slow calls a node keeps in memory for operators.
const slowKept = 128

// slowLog logs calls that take long, with the parts of their time, and keeps the last ones. Its
// methods may be called concurrently. A nil slowLog logs none.
type slowLog struct {
	logger  hclog.Logger
	least   time.Duration
	limit   *rate.Limiter
	dropped atomic.Int64 // since the last line

	mu   sync.Mutex
	kept []document.SlowCall // guarded by mu; oldest first
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

// last returns the last slow calls, newest first.
func (l *slowLog) last() []document.SlowCall {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]document.SlowCall, len(l.kept))
	for i, c := range l.kept {
		out[len(out)-1-i] = c
	}
	return out
}

// commit logs a commit: how long it waited in the queue, until its entry was on the disks of a
// majority, and until it was applied; or how long the leader took.
func (l *slowLog) commit(ctx context.Context, c agent.Commit, parts *tracing.Parts, took time.Duration, err error) {
	slow := document.SlowCall{Call: "commit", Scope: c.Scope, Ops: len(c.Ops), LeaderUS: parts.Forwarded().Microseconds()}
	if len(c.Ops) > 0 {
		slow.First = reflect.TypeOf(c.Ops[0]).Elem().Name()
	}
	if !parts.Packed.IsZero() {
		slow.QueueUS, slow.ReplicateUS, slow.ApplyUS = parts.Waited().Microseconds(), parts.Logged().Microseconds(), parts.Applying.Microseconds()
	}
	l.write(ctx, slow, took, err)
}

// read logs reads.
func (l *slowLog) read(ctx context.Context, r agent.Reads, took time.Duration, err error) {
	slow := document.SlowCall{Call: "read", Scope: r.Scope, Ops: len(r.Reads)}
	if len(r.Reads) > 0 {
		slow.First = reflect.TypeOf(r.Reads[0]).Elem().Name()
	}
	l.write(ctx, slow, took, err)
}

// instance logs a call of an instance.
func (l *slowLog) instance(ctx context.Context, call string, ref agent.InstanceRef, took time.Duration, err error) {
	l.write(ctx, document.SlowCall{Call: call, Scope: ref.Scope, Manager: ref.Manager, Key: ref.Key}, took, err)
}

func (l *slowLog) write(ctx context.Context, slow document.SlowCall, took time.Duration, err error) {
	slow.At, slow.TookUS = time.Now().UnixMilli(), took.Microseconds()
	if err != nil {
		slow.Code = string(agent.CodeOf(err))
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		slow.Trace = sc.TraceID().String()
	}
	l.mu.Lock()
	if l.kept = append(l.kept, slow); len(l.kept) > slowKept {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.mu.Unlock()
	if !l.limit.Allow() {
		l.dropped.Add(1)
		return
	}
	fields := slowFields(slow)
	if dropped := l.dropped.Swap(0); dropped > 0 {
		fields = append(fields, "not_logged_before", dropped)
	}
	l.logger.Warn(slowMessage, fields...)
}

// slowFields returns the fields of a line, without those that are empty.
func slowFields(s document.SlowCall) []any {
	var fields []any
	text := func(name, value string) {
		if value != "" {
			fields = append(fields, name, value)
		}
	}
	length := func(name string, us int64) {
		if us != 0 {
			fields = append(fields, name, time.Duration(us)*time.Microsecond)
		}
	}
	text("call", s.Call)
	text("scope", s.Scope)
	if s.Ops > 0 {
		fields = append(fields, "ops", s.Ops)
	}
	text("first", s.First)
	text("manager", s.Manager)
	text("key", s.Key)
	length("queue", s.QueueUS)
	length("replicate", s.ReplicateUS)
	length("apply", s.ApplyUS)
	length("leader", s.LeaderUS)
	length("took", s.TookUS)
	text("code", s.Code)
	text("trace", s.Trace)
	return fields
}
