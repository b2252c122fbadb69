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

// caseTimeout bounds a case, so that a service that hangs fails one case and
// not the whole run. In a bubble it is virtual.
const caseTimeout = 2 * time.Minute

// kit is what a case works with: a service, and a scope of its own.
type kit struct {
	*testing.T
	ctx     context.Context //nolint:containedctx // a kit lives as long as its case, which is what ctx bounds
	service agent.Service
	scope   string
	lastly  uint64 // the newest index seen
}

func newKit(t *testing.T, service agent.Service) *kit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	t.Cleanup(cancel)
	return &kit{T: t, ctx: ctx, service: service, scope: newName("scope")}
}

// newName is a name that nobody has used before, in earlier runs neither.
func newName(prefix string) string { return prefix + "-" + strings.ToLower(rand.Text()) }

// in is the same kit in another scope.
func (k *kit) in(scope string) *kit {
	other := *k
	other.scope = scope
	return &other
}

// send commits c as it is, in the kit's scope unless it names one.
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

// applied checks a result that must be there.
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

// apply applies one op and gives its result.
func apply[R agent.OpResult](k *kit, op agent.Op) R {
	k.Helper()
	return resultOf[R](k, k.commit(op), 0)
}

// resultOf is the result of a commit's op i.
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

// refuse sends ops as one commit that must be refused, and by the state
// machine: so its refusal is final, whatever the transport.
func (k *kit) refuse(code agent.Code, op int, ops ...agent.Op) agent.Error {
	k.Helper()
	_, err := k.send(agent.Commit{Ops: ops})
	e := k.refused(code, op, err)
	if !e.Final {
		k.Fatalf("a refusal from the log is not final: %+v", e)
	}
	return e
}

// refuseAtDoor sends ops that are wrong in themselves.
func (k *kit) refuseAtDoor(code agent.Code, op int, field string, ops ...agent.Op) {
	k.Helper()
	_, err := k.send(agent.Commit{Ops: ops})
	e := k.refused(code, op, err)
	if e.Field != field {
		k.Fatalf("the field at fault is %q, want %q: %+v", e.Field, field, e)
	}
	if e.Final {
		k.Fatalf("a refusal at the door is final: %+v", e)
	}
}

// refused checks an error that says that nothing was applied.
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

// read asks several things at once, at no older an index than the newest
// result that this kit has seen.
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
			k.Fatalf("answer %d has both of error and find, or neither: %+v", i, a)
		}
	}
	return answers
}

// find reads one thing that must be there.
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

// lacks reads one thing that must not be there.
func (k *kit) lacks(code agent.Code, r agent.Read) agent.Error {
	k.Helper()
	answer := k.read(r).Answers[0]
	if answer.Err == nil {
		k.Fatalf("found %+v, want %s", answer.Found, code)
	}
	return k.failure(code, answer.Err)
}

// equal compares deeply; an empty slice equals an absent one, since not every
// wire tells them apart.
func (k *kit) equal(what string, got, want any) {
	k.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		k.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func ptr[T any](v T) *T { return &v }

// message is a draft whose id and time the caller chose.
func message(id, text string) agent.Draft {
	return agent.Draft{ID: id, At: ptr(int64(1_700_000_000_123)), Kind: agent.KindMessage, Payload: agent.JSON(fmt.Sprintf(`{"text":%q}`, text))}
}

// messages is n of them, with ids from start on.
func messages(prefix string, start, n int) []agent.Draft {
	drafts := make([]agent.Draft, n)
	for i := range drafts {
		drafts[i] = message(fmt.Sprintf("%s%d", prefix, start+i), fmt.Sprintf("%s says %d", prefix, start+i))
	}
	return drafts
}

// appendTo appends and gives the result.
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

// entries loads all entries that a thread has, page by page.
func (k *kit) entries(thread string) []agent.Entry {
	k.Helper()
	return k.load(agent.LoadEntries{Thread: thread})
}

// load loads all pages of what r asks for.
func (k *kit) load(r agent.LoadEntries) []agent.Entry {
	k.Helper()
	var all []agent.Entry
	for range 1000 {
		page := find[*agent.Entries](k, &r)
		all = append(all, page.Items...)
		if page.Next == nil {
			return all
		}
		if *page.Next <= r.From && r.From > 0 {
			k.Fatalf("the page after seq %d begins at %d", r.From, *page.Next)
		}
		r.From, r.Tail = *page.Next, 0
	}
	k.Fatal("the pages never end")
	return nil
}

// ids lists entries' ids, separated by spaces.
func ids(entries []agent.Entry) string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.ID
	}
	return strings.Join(all, " ")
}

// chain is the head of a thread with these entries.
func chain(entries ...agent.Entry) agent.Head {
	var h agent.Head
	for _, e := range entries {
		h = h.Next(e.ID, e.At, e.Kind, e.Payload, e.Refs)
	}
	return h
}
