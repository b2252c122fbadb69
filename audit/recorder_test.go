package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
	"dormouse/audit"
)

// live says that every token is live.
type live struct{}

func (live) Live(string) bool              { return true }
func (live) LastUsed(string) int64         { return 0 }
func (live) Barrier(context.Context) error { return nil }

// hash is of the token that callers use.
var hash = agent.HashToken("the token of anna")

// scene is a guarded and recorded service over a store in memory.
type scene struct {
	*session
	dir      string
	full     atomic.Bool
	recorder *audit.Recorder
	service  agent.Submitter
	operator layout.Operator
}

func newScene(tb testing.TB, goOn bool) *scene {
	tb.Helper()
	s := &scene{dir: filepath.Join(tb.TempDir(), "audit")}
	o := options(s.dir)
	o.FileBytes = 1 << 20
	o.SetFault(func() error {
		if s.full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	})
	s.session = open(tb, o)
	s.recorder = audit.NewRecorder(s.Log, goOn)
	r := s.recorder
	store := memstore.New()
	if _, err := store.Commit(tb.Context(), agent.Commit{Ops: []agent.Op{&agent.PutToken{Hash: hash, Principal: "anna", Grants: agent.Everything()}}}); err != nil {
		tb.Fatal(err)
	}
	s.service = r.Denials(access.NewGuard(r.Service(store), live{}))
	s.operator = r.OperatorDenials(access.NewOperator(r.Operator(fakeOperator{}), live{}))
	return s
}

// fakeOperator backs up ten bytes.
type fakeOperator struct{ layout.Operator }

func (fakeOperator) Change(_ context.Context, _ layout.Change, node string) (string, error) {
	if node == "last" {
		return "", agent.Errorf(agent.CodeConflict, "the last voter stays")
	}
	return "n1", nil
}

func (fakeOperator) TakeBackup(context.Context, func(layout.BackupProgress)) (layout.BackupInfo, error) {
	return layout.BackupInfo{Name: "b1", Bytes: 7}, nil
}

func (fakeOperator) JoinToken(context.Context, time.Duration) (layout.JoinToken, error) {
	return layout.JoinToken{Secret: "SECRET", ExpiresAt: 1700000000000}, nil
}

func (fakeOperator) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write([]byte("0123456789"))
	return err
}

// as returns a context of a principal with the verbs on scope s.
func as(tb testing.TB, verbs ...agent.Verb) context.Context {
	tb.Helper()
	ctx := access.With(tb.Context(), &access.Principal{Name: "anna", TokenID: hash.TokenID(), Source: access.SourceToken, Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: verbs}}})
	return access.WithCall(ctx, access.Call{Address: "10.0.0.1:5000", Method: "commit"})
}

// recs returns the records since the start of the log, once the log is closed.
func (s *scene) recs() []audit.Record {
	s.t.Helper()
	s.recorder.Flush()
	s.end()
	good(s.t, s.dir)
	all := records(s.t, s.dir)
	return all[2:] // the file and the start
}

func commitOf(ops ...agent.Op) agent.Commit { return agent.Commit{Scope: "s", Ops: ops} }

// An administrative commit has two records with one outcome, whichever way it is made.
func TestAnAdministrativeCommitIsBetweenTwoRecords(t *testing.T) {
	for _, submit := range []bool{true, false} {
		s := newScene(t, false)
		c := commitOf(&agent.PutToken{Hash: agent.HashToken("SECRET"), Principal: "bob", Grants: []agent.Grant{{Scopes: []string{"s"}, Verbs: []agent.Verb{agent.VerbRead}}}})
		var result agent.Result
		var err error
		if submit {
			result, err = agent.Await(as(t, agent.VerbTokensChange, agent.VerbRead), s.service, c)
		} else {
			result, err = s.service.Commit(as(t, agent.VerbTokensChange, agent.VerbRead), c)
		}
		if err != nil {
			t.Fatal(err)
		}
		recs := s.recs()
		if len(recs) != 2 {
			t.Fatalf("%+v", recs)
		}
		for i, rec := range recs {
			if rec.Kind != audit.KindToken || rec.Action != "put_token" || rec.Principal != "anna" || rec.Token != hash.TokenID() || rec.Source != "token" ||
				rec.Address != "10.0.0.1:5000" || rec.Method != "commit" || rec.Verb != "tokens:change" || rec.Scope != "s" || len(rec.Object) != 2 || rec.Object[1] != "bob" {
				t.Errorf("%d: %+v", i, rec)
			}
		}
		if b, e := recs[0], recs[1]; b.Phase != audit.PhaseBegin || b.Outcome != "" || e.Phase != audit.PhaseEnd || e.Outcome != "ok" || e.Begin != b.Seq || e.Index != result.Index {
			t.Errorf("%+v\n%+v", b, e)
		}
		if strings.Contains(read(t, files(t, s.dir)[0]), "SECRET") {
			t.Error("the log has a secret")
		}
	}
}

// A delete of data has one record, with its outcome; other writes and reads have none.
func TestADeleteHasARecordAndAWriteHasNone(t *testing.T) {
	s := newScene(t, false)
	ctx := as(t, agent.VerbRead, agent.VerbWrite)
	for _, c := range []agent.Commit{
		commitOf(&agent.PutValue{Key: "k", Bytes: []byte("PAYLOAD")}),
		commitOf(&agent.DeleteValue{Key: "k"}, &agent.DeleteThread{Thread: "t"}),
	} {
		if _, err := s.service.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.service.Read(ctx, agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.service.Commit(ctx, commitOf(&agent.PutValue{Key: "k", Bytes: []byte("PAYLOAD")})); err != nil {
		t.Fatal(err)
	}
	wrong := uint64(77)
	if _, err := s.service.Commit(ctx, commitOf(&agent.DeleteValue{Key: "k", IfRevision: &wrong})); err == nil {
		t.Fatal("a wrong revision is accepted")
	}
	recs := s.recs()
	if len(recs) != 3 || recs[0].Action != "delete_value" || recs[1].Action != "delete_thread" || recs[0].Outcome != "ok" || recs[0].Phase != "" || recs[2].Outcome == "ok" {
		t.Errorf("%+v", recs)
	}
}

// What a caller may not do is a denial, with the right that it lacks. It makes no other record.
func TestARefusedCallIsADenial(t *testing.T) {
	s := newScene(t, false)
	ctx := as(t, agent.VerbRead)
	if _, err := s.service.Commit(ctx, commitOf(&agent.DeleteScope{})); agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatal(err)
	}
	if _, err := agent.Await(ctx, s.service, commitOf(&agent.PutValue{Key: "k"})); agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatal(err)
	}
	reads := agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetValue{Key: "k"}, &agent.ListTokens{}, &agent.GetToken{ID: "x"}}}
	if _, err := s.service.Read(ctx, reads); err != nil {
		t.Fatal(err)
	}
	several := commitOf(&agent.PutValue{Key: "k"}, &agent.DeleteScope{}) // the record is about the op that was refused
	if _, err := s.service.Commit(as(t, agent.VerbWrite), several); agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatal(err)
	}
	if _, err := s.service.Read(ctx, agent.Reads{Scope: "other", Reads: []agent.Read{&agent.GetValue{Key: "k"}}}); agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatal(err)
	}
	for _, err := range s.service.Watch(ctx, agent.Watch{Scope: "other", Thread: "t"}) {
		if agent.CodeOf(err) != agent.CodeForbidden {
			t.Fatal(err)
		}
	}
	if err := s.operator.Backup(ctx, io.Discard); agent.CodeOf(err) != agent.CodeForbidden {
		t.Fatal(err)
	}
	if _, err := s.operator.Change(t.Context(), layout.ChangeLeave, "n2"); agent.CodeOf(err) != agent.CodeUnauthenticated {
		t.Fatal(err)
	}
	want := []string{"delete_scope admin s", "put_value write s", "list_tokens tokens:change s", "get_token tokens:change s", "delete_scope admin s", "get_value read other", "watch read other", "backup cluster:backup ", "leave_node cluster:change "}
	recs := s.recs()
	for i, rec := range recs {
		if got := fmt.Sprintf("%s %s %s", rec.Action, rec.Verb, rec.Scope); i >= len(want) || got != want[i] || rec.Kind != audit.KindDenial || rec.Outcome != "forbidden" && i < 8 || rec.Detail == "" {
			t.Errorf("%d: %s: %+v", i, got, rec)
		}
	}
	if len(recs) != len(want) || recs[8].Outcome != "unauthenticated" || recs[8].Principal != "" {
		t.Errorf("%d records: %+v", len(recs), recs)
	}
}

// What a server refuses by itself is a denial as well, with what the server knows of the call.
func TestARefusalOfAServerIsADenial(t *testing.T) {
	s := newScene(t, false)
	for _, about := range []access.Subject{
		{Action: "delete_thread", Verbs: []agent.Verb{agent.VerbWrite}, Scope: "s", Object: []string{"t"}},
		{Action: "erase_agent", Verbs: []agent.Verb{agent.VerbAdmin, agent.VerbRead}, Object: []string{"a"}},
		{Action: "get_cluster", Verbs: []agent.Verb{agent.VerbClusterRead}},
		{},
	} {
		s.recorder.Denied(as(t), about, agent.Errorf(agent.CodeForbidden, "no"))
		s.recorder.Denied(as(t), about, agent.Errorf(agent.CodeInvalid, "no"))
	}
	want := []string{"delete_thread write s [t]", "erase_agent admin,read default [a]", "get_cluster cluster:read  []", "   []"}
	recs := s.recs()
	if len(recs) != len(want) {
		t.Fatalf("%+v", recs)
	}
	for i, rec := range recs {
		if got := fmt.Sprintf("%s %s %s %v", rec.Action, rec.Verb, rec.Scope, rec.Object); got != want[i] || rec.Kind != audit.KindDenial || rec.Outcome != "forbidden" {
			t.Errorf("%d: %s: %+v", i, got, rec)
		}
	}
}

// Backups and changes of the members are recorded with their end; secrets of join tokens are not.
func TestCallsOfOperatorsAreRecorded(t *testing.T) {
	s := newScene(t, false)
	ctx := as(t, agent.ClusterVerbs()...)
	var copied bytes.Buffer
	if err := s.operator.Backup(ctx, &copied); err != nil || copied.Len() != 10 {
		t.Fatal(err)
	}
	if _, err := s.operator.Change(ctx, layout.ChangeDemote, "last"); err == nil {
		t.Fatal("no error")
	}
	if _, err := s.operator.JoinToken(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := s.operator.TakeBackup(ctx, nil); err != nil {
		t.Fatal(err)
	}
	recs := s.recs()
	if len(recs) != 8 || recs[7].Bytes != 7 || recs[7].Object[0] != "b1" {
		t.Fatalf("%+v", recs)
	}
	for i, want := range []string{
		"backup:", "backup:ok", "demote_node:", "demote_node:conflict", "create_join_token:", "create_join_token:ok", "take_backup:", "take_backup:ok",
	} {
		if got := recs[i].Action + ":" + recs[i].Outcome; got != want {
			t.Errorf("%d: %s", i, got)
		}
	}
	if recs[1].Bytes != 10 || recs[3].Object[0] != "last" || !strings.Contains(recs[3].Detail, "last voter") || !strings.Contains(recs[5].Detail, "2023") {
		t.Errorf("%+v", recs)
	}
	if strings.Contains(read(t, files(t, s.dir)[0]), "SECRET") {
		t.Error("the log has a secret")
	}
}

// While the log cannot be written, administrative calls are not made; deletes of data are.
func TestAFullDiskRefusesAdministrativeCalls(t *testing.T) {
	s := newScene(t, false)
	ctx := as(t, append(agent.ScopeVerbs(), agent.ClusterVerbs()...)...)
	if _, err := s.service.Commit(ctx, commitOf(&agent.PutValue{Key: "k"})); err != nil {
		t.Fatal(err)
	}
	s.full.Store(true)
	for range 2 * audit.QueueMax / 100 {
		c := commitOf(&agent.PutScope{Policy: agent.Policy{ChangesMax: 1000}})
		if _, err := s.service.Commit(ctx, c); agent.CodeOf(err) != agent.CodeUnavailable || !strings.Contains(err.Error(), "audit log") {
			t.Fatal(err)
		}
		if _, err := agent.Await(ctx, s.service, c); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Fatal(err)
		}
		if err := s.operator.Backup(ctx, io.Discard); agent.CodeOf(err) != agent.CodeUnavailable {
			t.Fatal(err)
		}
		if _, err := s.service.Commit(ctx, commitOf(&agent.DeleteValue{Key: "k"})); err != nil {
			t.Fatal(err)
		}
	}
	policy := func() uint64 {
		answers, err := s.service.Read(ctx, agent.Reads{Scope: "s", Reads: []agent.Read{&agent.GetScope{}}})
		if err != nil || answers.Answers[0].Err != nil {
			t.Fatal(answers, err)
		}
		return answers.Answers[0].Found.(*agent.Scope).Policy.ChangesMax
	}
	if policy() != 0 {
		t.Error("a policy was set without a record")
	}
	s.full.Store(false)
	if _, err := s.service.Commit(ctx, commitOf(&agent.PutScope{Policy: agent.Policy{ChangesMax: 1000}})); err != nil || policy() != 1000 {
		t.Fatal(err, policy())
	}
	if !s.Reserve(audit.QueueMax) {
		t.Error("the calls that were refused have kept places")
	}
	s.Release(audit.QueueMax)
	s.end()
	if report := good(t, s.dir); len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
}

func TestOnFailureContinueMakesTheCalls(t *testing.T) {
	s := newScene(t, true)
	ctx := as(t, append(agent.ScopeVerbs(), agent.ClusterVerbs()...)...)
	s.full.Store(true)
	for range 2 * audit.QueueMax / 100 {
		if _, err := s.service.Commit(ctx, commitOf(&agent.PutScope{Policy: agent.Policy{}})); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Await(ctx, s.service, commitOf(&agent.DeleteScope{})); err != nil {
			t.Fatal(err)
		}
		if err := s.operator.Backup(ctx, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	s.full.Store(false)
	s.fill(1)
	if s.Reserve(audit.QueueMax+1) || !s.Reserve(audit.QueueMax) {
		t.Error("the calls without a record have taken places, or given some back")
	}
	s.Release(audit.QueueMax)
	s.end()
	if report := good(t, s.dir); len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
}

// An address that is refused without end has a bounded number of lines, and the log counts the others.
func TestAFloodOfDenialsIsBounded(t *testing.T) {
	s := newScene(t, false)
	const calls = 20_000
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for range calls / 4 {
				_, _ = s.service.Commit(as(t), commitOf(&agent.DeleteScope{}))
			}
		})
	}
	g.Wait()
	recs := s.recs()
	var told uint64
	for _, rec := range recs {
		told += rec.LeftOut
		if rec.Action != "" {
			told++
		}
	}
	if told != calls || len(recs) > 3*audit.DenialsBurst {
		t.Errorf("%d records tell of %d calls of %d", len(recs), told, calls)
	}
	if stats := s.Stats(); stats.LeftOut == 0 {
		t.Errorf("%+v", stats)
	}
}

// Denials of many addresses leave room for administrative calls.
func TestDenialsLeaveRoomForAdministrativeCalls(t *testing.T) {
	l, err := audit.Open(options(filepath.Join(t.TempDir(), "audit")))
	if err != nil {
		t.Fatal(err)
	}
	r := audit.NewRecorder(l, false)
	for i := range audit.QueueMax {
		ctx := access.WithCall(t.Context(), access.Call{Address: fmt.Sprintf("10.0.%d.%d:1", i/250, i%250)})
		r.Denied(ctx, access.Subject{}, agent.Errorf(agent.CodeForbidden, "no"))
	}
	if stats := l.Stats(); stats.Waiting != audit.DenialsMax || stats.LeftOut != audit.QueueMax-audit.DenialsMax || !l.Reserve(audit.QueueMax-audit.DenialsMax) {
		t.Errorf("%+v", stats)
	}
	if err := l.Close(t.Context(), false); err != nil {
		t.Fatal(err)
	}
}

// unrecorded are the ops without a record: they neither delete nor administer.
var unrecorded = strings.Fields(`PutValue ReviseValue PutCheckpoint PatchCheckpoint AppendThread HibernateThread ForkThread WriteMemory SaveConversation
	SetInterrupted PendMessage SaveMessages UpdateMessage ForkAgent TakeClaim RenewClaim ReleaseClaim PutSession ClaimSession ResumeSession RecoverSession
	CheckpointSession CommitSession RenewSession CancelSession ForkSession PutTimer AckTimer FailTimer PatchCron PutManager AnswerSignal`)

// Each op of the domain is recorded, or listed as one that is not.
func TestEachOpIsRecordedOrNot(t *testing.T) {
	recorded := map[string]bool{}
	for _, op := range []agent.Op{
		&agent.DeleteScope{}, &agent.EraseAgent{}, &agent.DeletePrefix{}, &agent.PutScope{}, &agent.IndexMetadata{}, &agent.PutToken{}, &agent.RevokeToken{}, &agent.DecideReview{}, &agent.ImportScope{Finish: true},
		&agent.DeleteValue{}, &agent.DeleteCheckpoint{}, &agent.DeleteThread{}, &agent.CompactThread{}, &agent.DeleteMemory{}, &agent.DeleteConversation{},
		&agent.DeleteSession{}, &agent.DeleteTimer{}, &agent.DeleteManager{},
		&agent.SetTTL{Thread: "t", TTL: time.Millisecond},
	} {
		s := newScene(t, false)
		ctx := as(t, append(agent.ScopeVerbs(), agent.ClusterVerbs()...)...)
		_, _ = s.service.Commit(ctx, commitOf(op))
		if recs := s.recs(); len(recs) == 0 || recs[0].Kind == audit.KindDenial {
			t.Errorf("%T has no record", op)
		}
		recorded[strings.TrimPrefix(fmt.Sprintf("%T", op), "*agent.")] = true
	}
	for _, name := range unrecorded {
		recorded[name] = true
	}
	sources, err := filepath.Glob("../agent/*.go")
	if err != nil {
		t.Fatal(err)
	}
	ops := 0
	for _, path := range sources {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*(\w+)\) validateOp\(`).FindAllStringSubmatch(string(raw), -1) {
			if ops++; !recorded[m[1]] {
				t.Errorf("op %s: decide whether it has an audit record", m[1])
			}
		}
	}
	if ops != len(recorded) {
		t.Errorf("%d ops, and %d are decided", ops, len(recorded))
	}
}

// A delete that applies only if there is no value is the condition of a transaction over the protocol of Redis.
func TestAConditionIsNoDelete(t *testing.T) {
	for revision, want := range []int{0, 1} {
		s := newScene(t, false)
		at := uint64(revision)
		_, _ = s.service.Commit(as(t, agent.ScopeVerbs()...), commitOf(&agent.DeleteValue{Key: "k", IfRevision: &at}))
		if recs := s.recs(); len(recs) != want {
			t.Errorf("a delete of revision %d: %+v, want %d records", revision, recs, want)
		}
	}
}

// A ttl so short that it deletes a thread, a session or a conversation is recorded as a delete; others are not.
func TestAShortTTLIsADelete(t *testing.T) {
	for _, each := range []struct {
		op   agent.SetTTL
		want string // the object
	}{
		{agent.SetTTL{Thread: "t", TTL: time.Millisecond}, "thread t ttl 1ms"},
		{agent.SetTTL{Session: "x", TTL: time.Second}, "session x ttl 1s"},
		{agent.SetTTL{Conversation: "c", TTL: time.Hour - time.Millisecond}, "conversation c ttl 59m59.999s"},
		{agent.SetTTL{Thread: "t", TTL: time.Hour}, ""},
		{agent.SetTTL{Thread: "t"}, ""}, // it never expires
	} {
		s := newScene(t, false)
		_, _ = s.service.Commit(as(t, agent.VerbWrite, agent.VerbRun), commitOf(&each.op))
		recs, got := s.recs(), ""
		if len(recs) == 1 && recs[0].Kind == audit.KindDelete && recs[0].Action == "set_ttl" {
			got = strings.Join(recs[0].Object, " ")
		}
		if got != each.want || each.want == "" && len(recs) > 0 {
			t.Errorf("%+v: %+v, want the object %q", each.op, recs, each.want)
		}
	}
}
