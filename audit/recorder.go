package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/internal/budget"
)

// Recorder turns calls into records of a Log. Its methods may be called concurrently.
type Recorder struct {
	log      *Log
	goOn     bool
	throttle *throttle
}

// NewRecorder returns the recorder of a log. If the log cannot be written, an administrative call
// is refused before it is made, unless goOn is set.
func NewRecorder(log *Log, goOn bool) *Recorder {
	return &Recorder{log: log, goOn: goOn, throttle: newThrottle(log.o.Now)}
}

// Run writes from time to time how many denials have no line, until ctx ends.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(leftOutReport)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.Flush()
		case <-ctx.Done():
			return
		}
	}
}

// Flush writes how many denials have no line.
func (r *Recorder) Flush() {
	all := r.throttle.drain()
	addresses := make([]string, 0, len(all))
	for address := range all {
		addresses = append(addresses, address)
	}
	slices.Sort(addresses)
	for _, address := range addresses {
		if !r.log.reserve(1, queueMax) {
			r.throttle.giveBack(address, all[address])
			continue
		}
		r.log.Put(Record{Kind: KindDenial, Address: address, LeftOut: all[address], Detail: "further refused calls"}, nil)
	}
}

// Note records what the node did by itself.
func (r *Recorder) Note(kind Kind, action, detail string, index uint64) {
	if !r.log.Reserve(1) {
		r.log.lose(1)
		return
	}
	r.log.Put(Record{Kind: kind, Action: action, Detail: detail, Outcome: outcomeOK, Index: index}, nil)
}

// of returns a record with the caller that ctx carries.
func of(ctx context.Context, kind Kind, action string) Record {
	call := access.CallOf(ctx)
	rec := Record{Kind: kind, Action: action, Address: call.Address, Method: call.Method}
	if p := access.From(ctx); p != nil {
		rec.Principal, rec.Token, rec.Source = p.Name, p.TokenID, string(p.Source)
	}
	return rec
}

// denied reports whether err refuses a call because of who made it.
func denied(err error) bool {
	code := agent.CodeOf(err)
	return err != nil && (code == agent.CodeUnauthenticated || code == agent.CodeForbidden)
}

// Denied implements access.Auditor: it records a call that was refused. It does not block, and writes
// a bounded number of lines for each address.
func (r *Recorder) Denied(ctx context.Context, about access.Subject, err error) {
	if !denied(err) {
		return
	}
	rec := of(ctx, KindDenial, about.Action)
	rec.Verb, rec.Scope, rec.Object = verbs(about.Verbs), about.Scope, about.Object
	if rec.Scope == "" && slices.ContainsFunc(about.Verbs, func(v agent.Verb) bool { return !v.OfCluster() }) {
		rec.Scope = agent.DefaultScope
	}
	r.refused(rec, err)
}

func (r *Recorder) refused(rec Record, err error) {
	rec.Outcome, rec.Detail = string(agent.CodeOf(err)), err.Error()
	by := budget.Caller(rec.Address)
	leftOut, ok := r.throttle.allow(by)
	if !ok {
		r.log.leaveOut(1)
		return
	}
	if !r.log.reserve(1, denialsMax) {
		r.log.leaveOut(1)
		r.throttle.giveBack(by, leftOut+1)
		return
	}
	rec.LeftOut = leftOut
	r.log.Put(rec, nil)
}

// outcome returns the outcome of a call as records hold it.
func outcome(err error) string {
	if err == nil {
		return outcomeOK
	}
	return string(agent.CodeOf(err))
}

// errUnwritten is the error of a call that is not made because its record cannot be written.
func errUnwritten(err error) error {
	if errors.Is(err, ErrFull) {
		e := agent.Errorf(agent.CodeOverloaded, "the call was not made: %v", err)
		e.RetryAfterMS = retryAfterMS
		return e
	}
	return agent.Errorf(agent.CodeUnavailable, "the call was not made, because this node cannot write its audit log (%v): free disk space on the node, or set audit.on_failure to continue", err)
}

const retryAfterMS = 1000

// around makes a call between two records: the first one is on disk before the call is made, and the
// second one, which call completes, before around returns.
func (r *Recorder) around(ctx context.Context, rec Record, call func(rec *Record) error) (err error) {
	rec.Phase = PhaseBegin
	recs := []*Record{&rec}
	if err := r.await(ctx, recs); err != nil {
		return err
	}
	err = errPanicked // unless call returns
	defer func() { r.finish(ctx, recs, agent.Result{}, err) }()
	err = call(&rec)
	return err
}

// errPanicked is the outcome of a call that panicked. Its record needs an end, which gives its places back.
var errPanicked error = agent.Errorf(agent.CodeInternal, "the call panicked")

// finish is end, and waits for it, but not longer than the caller waits for its answer: the call was made.
func (r *Recorder) finish(ctx context.Context, recs []*Record, result agent.Result, err error) {
	ended := make(chan struct{})
	r.end(recs, result, err, func() { close(ended) })
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// await is begin, and waits for it. The records need no end if it returns an error.
func (r *Recorder) await(ctx context.Context, recs []*Record) error {
	began := make(chan error, 1)
	r.begin(recs, func(err error) { began <- err })
	select {
	case err := <-began:
		return err
	case <-ctx.Done():
	}
	go func() { // the call is not made: its places are given back
		if <-began == nil {
			r.end(recs, agent.Result{}, ctx.Err(), func() {})
		}
	}()
	return agent.Errorf(agent.CodeUnavailable, "the call was not made: its audit record was not written in time")
}

// begin begins records: those with PhaseBegin are written before then is called. Each record then has a
// place for its end. then must not block. It is called with an error if the call must not be made.
func (r *Recorder) begin(recs []*Record, then func(err error)) {
	waits := 0
	for _, rec := range recs {
		if rec.Phase == PhaseBegin {
			waits++
		}
	}
	if !r.log.reserve(waits+len(recs), placesFor(recs)) {
		r.fail(recs, waits+len(recs), ErrFull, then)
		return
	}
	if waits == 0 {
		then(nil)
		return
	}
	var mu sync.Mutex
	var first error
	left := waits
	for _, rec := range recs {
		if rec.Phase != PhaseBegin {
			continue
		}
		r.log.Put(*rec, func(seq uint64, err error) {
			mu.Lock()
			if left--; err != nil && first == nil {
				first = err
			}
			rec.Begin = seq
			last, failed := left == 0, first
			mu.Unlock()
			switch {
			case !last:
			case failed != nil:
				r.log.Release(len(recs))
				r.fail(recs, len(recs), failed, then)
			default:
				then(nil)
			}
		})
	}
}

// placesFor returns how many places of the queue may be in use once a call has taken its own. The users of a scope
// leave the rest to those who administer: one commit of theirs may need 2,048 places.
func placesFor(recs []*Record) int {
	users := []agent.Verb{agent.VerbWrite, agent.VerbRun, agent.VerbDecide}
	if slices.ContainsFunc(recs, func(rec *Record) bool { return slices.Contains(users, agent.Verb(rec.Verb)) }) {
		return usersMax
	}
	return queueMax
}

// fail decides about a call whose records cannot be written, and which have no places. If the call is made, as many
// lines are missing as lines says.
func (r *Recorder) fail(recs []*Record, lines int, err error, then func(error)) {
	if !r.goOn {
		then(errUnwritten(err))
		return
	}
	r.log.lose(lines)
	for _, rec := range recs {
		rec.Kind = "" // no end is written
	}
	then(nil)
}

// end writes the end of records, and calls then once those with PhaseBegin are on disk, or cannot be
// written. then must not block.
func (r *Recorder) end(recs []*Record, result agent.Result, err error, then func()) {
	var left atomic.Int64
	left.Store(1)
	done := func(uint64, error) {
		if left.Add(-1) == 0 {
			then()
		}
	}
	for _, rec := range recs {
		if rec.Kind == "" {
			continue
		}
		var wait func(uint64, error)
		if rec.Phase == PhaseBegin {
			rec.Phase, wait = PhaseEnd, done
			left.Add(1)
		}
		rec.Index, rec.Outcome = result.Index, outcome(err)
		if err != nil {
			rec.Detail = strings.TrimPrefix(rec.Detail+"; "+err.Error(), "; ")
		}
		r.log.Put(*rec, wait)
	}
	done(0, nil)
}
