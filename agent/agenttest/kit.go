package agenttest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dormouse/agent"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// caseTimeout bounds a case, so that a service that hangs fails one case and not the
// whole run. In a bubble it is virtual time.
const caseTimeout = 2 * time.Minute

// kit holds the service and the scope of a case.
type kit struct {
	*testing.T
	ctx     context.Context //nolint:containedctx // a kit lives as long as its case, which is what ctx bounds
	service agent.Service
	scope   string
	lastly  uint64 // the highest index seen
}

func newKit(t *testing.T, service agent.Service) *kit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	t.Cleanup(cancel)
	return &kit{T: t, ctx: ctx, service: service, scope: newName("scope")}
}

// newName returns a unique name, also across runs.
func newName(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()) }

// in returns the same kit in another scope.
func (k *kit) in(scope string) *kit {
	other := *k
	other.scope = scope
	return &other
}

// send sends c, in the kit's scope unless it names one.
func (k *kit) send(c agent.Commit) (agent.Result, error) {
	if c.Scope == "" {
		c.Scope = k.scope
	}
	return k.service.Commit(k.ctx, c)
}

// commit applies ops as one commit.
func (k *kit) commit(ops ...agent.Op) agent.Result {
	k.Helper()
	return k.applied(k.send(agent.Commit{Ops: ops}))
}

// applied checks a result of a commit that must have been applied.
func (k *kit) applied(result agent.Result, err error) agent.Result {
	k.Helper()
	if err != nil {
		k.Fatalf("the commit was refused: %v", err)
	}
	if result.Index == 0 || result.Time == 0 {
		k.Fatalf("a result at index %d, time %d", result.Index, result.Time)
	}
	k.lastly = max(k.lastly, result.Index)
	return result
}

// apply applies one op and returns its result.
func apply[R agent.OpResult](k *kit, op agent.Op) R {
	k.Helper()
	return resultOf[R](k, k.commit(op), 0)
}

// resultOf returns the result of op i of a commit.
func resultOf[R agent.OpResult](k *kit, result agent.Result, i int) R {
	k.Helper()
	if len(result.Results) <= i {
		k.Fatalf("%d results, none for op %d", len(result.Results), i)
	}
	r, ok := result.Results[i].(R)
	if !ok {
		k.Fatalf("op %d answered with a %T, want a %T", i, result.Results[i], r)
	}
	return r
}

// refuse sends ops as one commit that the state machine must refuse. Such a refusal is
// final, whatever the transport.
func (k *kit) refuse(code agent.Code, op int, ops ...agent.Op) agent.Error {
	k.Helper()
	_, err := k.send(agent.Commit{Ops: ops})
	e := k.refused(code, op, err)
	if !e.Final {
		k.Fatalf("a refusal from the log is not final: %+v", e)
	}
	return e
}

// refuseInvalid sends ops that Validate must refuse.
func (k *kit) refuseInvalid(code agent.Code, op int, field string, ops ...agent.Op) {
	k.Helper()
	_, err := k.send(agent.Commit{Ops: ops})
	e := k.refused(code, op, err)
	if e.Field != field {
		k.Fatalf("the wrong field is %q, want %q: %+v", e.Field, field, e)
	}
	if e.Final {
		k.Fatalf("a validation error is final: %+v", e)
	}
}

// refused checks an error that says that the commit was not applied.
func (k *kit) refused(code agent.Code, op int, err error) agent.Error {
	k.Helper()
	e := k.failure(code, err)
	if agent.OutcomeOf(err) != agent.Refused {
		k.Fatalf("outcome %v of %v, want refused", agent.OutcomeOf(err), err)
	}
	if e.Op != op {
		k.Fatalf("op %d was refused, want op %d: %+v", e.Op, op, e)
	}
	return e
}

// failure checks an error's code.
func (k *kit) failure(code agent.Code, err error) agent.Error {
	k.Helper()
	var e *agent.Error
	if !errors.As(err, &e) {
		k.Fatalf("%v; want an *agent.Error with code %s", err, code)
	}
	if e.Code != code {
		k.Fatalf("%v (%+v); want code %s", err, *e, code)
	}
	return *e
}

// read sends several reads; their index must not be lower than the highest one that
// this kit has seen.
func (k *kit) read(reads ...agent.Read) agent.Answers {
	k.Helper()
	answers, err := k.service.Read(k.ctx, agent.Reads{Scope: k.scope, Reads: reads})
	if err != nil {
		k.Fatalf("read: %v", err)
	}
	if len(answers.Answers) != len(reads) {
		k.Fatalf("%d answers to %d reads", len(answers.Answers), len(reads))
	}
	if answers.Index < k.lastly {
		k.Fatalf("read at index %d, after a result at %d", answers.Index, k.lastly)
	}
	for i, a := range answers.Answers {
		if (a.Err == nil) == (a.Found == nil) {
			k.Fatalf("answer %d must have either an error or a result: %+v", i, a)
		}
	}
	return answers
}

// find reads one object that must exist.
func find[F agent.Found](k *kit, r agent.Read) F {
	k.Helper()
	return foundIn[F](k, k.read(r), 0)
}

func foundIn[F agent.Found](k *kit, answers agent.Answers, i int) F {
	k.Helper()
	a := answers.Answers[i]
	if a.Err != nil {
		k.Fatalf("read %d found nothing: %v", i, a.Err)
	}
	f, ok := a.Found.(F)
	if !ok {
		k.Fatalf("read %d answered with a %T, want a %T", i, a.Found, f)
	}
	return f
}

// lacks reads one object; the read must fail with code.
func (k *kit) lacks(code agent.Code, r agent.Read) agent.Error {
	k.Helper()
	answer := k.read(r).Answers[0]
	if answer.Err == nil {
		k.Fatalf("found %+v, want %s", answer.Found, code)
	}
	return k.failure(code, answer.Err)
}

// equal compares deeply. An empty slice equals nil, since some transports do not
// distinguish them.
func (k *kit) equal(what string, got, want any) {
	k.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		k.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func ptr[T any](v T) *T { return &v }

// message returns a draft with an id and a time chosen by the caller.
func message(id, text string) agent.Draft {
	return agent.Draft{ID: id, At: ptr(int64(1_700_000_000_123)), Kind: agent.KindMessage, Payload: agent.JSON(fmt.Sprintf(`{"text":%q}`, text))}
}

// messages returns n messages, numbered from start.
func messages(prefix string, start, n int) []agent.Draft {
	drafts := make([]agent.Draft, n)
	for i := range drafts {
		drafts[i] = message(fmt.Sprintf("%s%d", prefix, start+i), fmt.Sprintf("%s says %d", prefix, start+i))
	}
	return drafts
}

// appendTo appends and returns the result.
func (k *kit) appendTo(thread string, drafts ...agent.Draft) *agent.ThreadResult {
	k.Helper()
	return apply[*agent.ThreadResult](k, &agent.AppendThread{Thread: thread, Entries: drafts})
}

func (k *kit) thread(id string) agent.Thread {
	k.Helper()
	thread := *find[*agent.Thread](k, &agent.GetThread{Thread: id})
	if thread.ID != id || thread.Floor > thread.Rev || thread.Incarnation == 0 {
		k.Fatalf("thread %q has meta %+v", id, thread)
	}
	return thread
}

// entries returns all entries of a thread, page by page.
func (k *kit) entries(thread string) []agent.Entry {
	k.Helper()
	return k.load(agent.LoadEntries{Thread: thread})
}

// load returns the entries of all pages of r.
func (k *kit) load(r agent.LoadEntries) []agent.Entry {
	k.Helper()
	var all []agent.Entry
	for range 1000 {
		page := find[*agent.Entries](k, &r)
		all = append(all, page.Items...)
		if page.Next != nil && *page.Next <= r.From && r.From > 0 && r.Order != agent.Descending {
			k.Fatalf("the page after seq %d begins at %d", r.From, *page.Next)
		}
		if !r.Continue(page) {
			return all
		}
	}
	k.Fatal("the pages never end")
	return nil
}

// verified checks that the chain of a thread is whole, and its head that of its entries.
func (k *kit) verified(thread string) {
	k.Helper()
	got := find[*agent.Verified](k, &agent.VerifyThread{Thread: thread})
	if !got.OK || got.Head != chain(k.entries(thread)...) {
		k.Fatalf("thread %q is not whole: %+v", thread, got)
	}
}

// ids returns the ids of entries, separated by spaces.
func ids(entries []agent.Entry) string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.ID
	}
	return strings.Join(all, " ")
}

// chain returns the head of a thread with these entries.
func chain(entries ...agent.Entry) agent.Head {
	var h agent.Head
	for _, e := range entries {
		h = h.After(&e)
	}
	return h
}
