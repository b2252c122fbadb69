package document

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/replay"
	"dormouse/instance/pod"
)

// opsWithout are the fields of ops that no document sets, or their beginnings: the store
// sets them.
var opsWithout = []string{
	"ClaimSession.Request.Owner", "ClaimSession.Request.At", "ClaimSession.Request.Outcome",
	"PutSession.Request.Owner", "PutSession.Request.At", "PutSession.Request.Outcome",
	"CommitSession.Snapshots.At", "CheckpointSession.Snapshot.At",
	"PutManager.Manager.Incarnation", "PutManager.Manager.Revision", "PutManager.Manager.CreatedAt", "PutManager.Manager.UpdatedAt",
	"PutManager.Manager.Untracked", // follows from Track
	"PutToken.Founding",            // only nodes
	"PutTimer.Timer.Generation", "PutTimer.Timer.NotBefore", "PutTimer.Timer.Attempts", "PutTimer.Timer.Parked",
	"PutTimer.Timer.LastError", "PutTimer.Timer.CreatedAt", "PutTimer.Timer.UpdatedAt",
}

// TestEachFieldOfAnOpIsDecoded fills every member of every op's document and decodes it:
// every field of the op must be set. It fails if a field of an op has no member, and if a
// member does not reach the op.
func TestEachFieldOfAnOpIsDecoded(t *testing.T) {
	for name, kind := range wireOps {
		t.Run(name, func(t *testing.T) {
			doc := kind()
			n := 0
			fill(reflect.ValueOf(doc).Elem(), &n)
			reflect.ValueOf(doc).Elem().FieldByName("Op").SetString(name)
			if on := reflect.ValueOf(doc).Elem().FieldByName("OnExists"); on.IsValid() {
				on.SetString(existsSkip)
			}
			if h, ok := doc.(*putTokenOp); ok {
				h.Hash = strings.Repeat("0a", len(agent.TokenHash{}))
			}
			if h, ok := doc.(*hibernateThreadOp); ok {
				*h.Rev = *h.FromSeq + uint64(len(h.Entries))
			}
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			op, err := DecodeOp(raw)
			if err != nil {
				t.Fatalf("%v: %s", err, raw)
			}
			each(reflect.ValueOf(op).Elem(), reflect.TypeOf(op).Elem().Name(), func(field string, v reflect.Value) {
				if v.IsZero() && !listed(opsWithout, field) {
					t.Errorf("%s is not set: give it a member in the op's document", field)
				}
			})
		})
	}
}

// answersWithout are the fields of answers that their documents leave out, or their
// beginnings. Of a session's settings lists and results have the busy policy only.
var answersWithout = []string{
	"SessionResult.Session.SessionSettings", "ForkedAgent.Session.SessionSettings", "SessionList.Items.SessionSettings",
	"Erasure.Ending",
	"Thawed.Encoded",                                                                      // Entries has them
	"ManagerResult.Manager.Untracked", "Manager.Untracked", "ManagerList.Items.Untracked", // Track has it
	"Entries.Thread.ID", "Entries.Thread.ForkedFrom", "Entries.Thread.Metadata", "Entries.Thread.Summary", // a page has the thread's
	"Entries.Thread.CreatedAt", "Entries.Thread.UpdatedAt", "Entries.Thread.ExpiresAt", // revs only
	"Recalled.Request.Embedding", "Recalled.Request.Ascending", // the caller's own
	"Attached.Instance.InstanceRef.Scope", "InstanceEvent.InstanceRef.Scope", // the caller named it
	"BackupStatus.Leads", "Backups.Status.Leads", "ClusterStatus.Backup.Leads", // the leader answers
	"ClusterStatus.Members.Member.Zone", "ClusterStatus.Members.Member.Weight", "ClusterStatus.Members.Member.FeatureLevelMax", // the placement has the first two
	"InstanceEvent.Missed", // an event of its own
	"Report.RequestedOps",
	"ValueRow.Body", // a file's own call has it
	"Changed.Body",  // of any type
}

// listed reports whether a field or the beginning of its path is in a list.
func listed(all []string, field string) bool {
	return slices.ContainsFunc(all, func(one string) bool { return field == one || strings.HasPrefix(field, one+".") })
}

// TestEachFieldOfAnAnswerIsEncoded encodes every answer with all fields set, and again
// with one field less: the document must differ.
func TestEachFieldOfAnAnswerIsEncoded(t *testing.T) {
	for _, e := range slices.Concat(results, founds) {
		t.Run(e.of.Elem().Name(), func(t *testing.T) {
			value := reflect.New(e.of.Elem())
			eachIsEncoded(t, value, func() any { return e.encode(value.Interface()) })
		})
	}
}

// TestEachFieldOfOtherAnswersIsEncoded does the same with answers of calls that are neither ops nor reads of the log.
func TestEachFieldOfOtherAnswersIsEncoded(t *testing.T) {
	for name, check := range map[string]func(t *testing.T){
		"Attached":     encodedWhole(func(a *agent.Attached) any { return AttachedOf(*a) }),
		"BackupStatus": encodedWhole(func(s *layout.BackupStatus) any { return BackupStatusOf(*s) }),
		"Backups":      encodedWhole(func(b *layout.Backups) any { return BackupsOf(*b) }),
		"Change": encodedWhole(func(c *agent.Changed) any {
			live := *c
			live.Deleted = false // a deletion has no revision
			return []Change{ChangeOf(c), ChangeOf(&live)}
		}),
		"ClusterStatus": encodedWhole(func(s *layout.ClusterStatus) any { return ClusterStatusOf(*s) }),
		"EntryPage":     encodedWhole(func(e *agent.Entries) any { return EntryPageOf(e) }),
		"File": encodedWhole(func(r *agent.ValueRow) any {
			r.Key = "file:/" + strings.TrimPrefix(r.Key, "file:/")
			return FileOf(*r)
		}),
		"FileStamp":      encodedWhole(func(r *agent.ValueResult) any { return FileStampOf(r) }),
		"InstanceChange": encodedWhole(func(e *agent.InstanceEvent) any { return InstanceChangeOf(e) }),
		"ManagerStats":   encodedWhole(func(s *agent.ManagerStats) any { return ManagerStatsOf(*s) }),
		"Mutated": encodedWhole(func(r *pod.Report) any {
			report := *r
			report.RequestedOps = nil // raw JSON
			m, err := MutatedOf(report)
			return []any{m, err}
		}),
		"Replayed": encodedWhole(func(e *replay.Event) any {
			return ReplayedOf(&replay.Replay{Session: &agent.Session{}, Timeline: []replay.Event{*e}})
		}),
		"SignalReply": encodedWhole(func(r *agent.Reply) any { return SignalReplyOf(*r) }),
	} {
		t.Run(name, check)
	}
}

// encodedWhole returns a test that each field of a T is in its document.
func encodedWhole[T any](encode func(*T) any) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		value := new(T)
		eachIsEncoded(t, reflect.ValueOf(value), func() any { return encode(value) })
	}
}

// eachIsEncoded fills the value that a pointer leads to, and fails for each field without which encode returns the same.
func eachIsEncoded(t *testing.T, value reflect.Value, encode func() any) {
	t.Helper()
	n := 0
	fill(value.Elem(), &n)
	encoded := func() string {
		raw, err := json.Marshal(encode())
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	whole := encoded()
	each(value.Elem(), value.Elem().Type().Name(), func(field string, v reflect.Value) {
		kept := reflect.New(v.Type()).Elem()
		kept.Set(v)
		v.SetZero()
		if encoded() == whole && !listed(answersWithout, field) {
			t.Errorf("%s is not in the document: give it a member", field)
		}
		v.Set(kept)
	})
}

// each calls visit with each exported field of v that is not a structure of package
// agent, at any depth.
func each(v reflect.Value, path string, visit func(field string, v reflect.Value)) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() || f.Anonymous {
				each(v.Field(i), path+"."+f.Name, visit)
			}
		}
	case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct && !v.IsNil():
		each(v.Elem(), path, visit)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && v.Len() > 0:
		each(v.Index(0), path, visit)
	default:
		visit(path, v)
	}
}

// fill sets every field of v to a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		v.SetInt(int64(time.Duration(*n) * time.Millisecond))
		return
	case reflect.TypeFor[agent.JSON](), reflect.TypeFor[JSON]():
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
		return
	case reflect.TypeFor[agent.Head](), reflect.TypeFor[agent.TokenHash]():
		v.Index(0).SetUint(uint64(*n%255) + 1)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Name == "Head" && f.Type.Kind() == reflect.String:
				v.Field(i).SetString(strings.Repeat("0a", len(agent.Head{})))
			case f.IsExported(), f.Anonymous:
				fill(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface: // stays nil
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic(fmt.Sprintf("a field of type %s cannot be filled", v.Type()))
	}
}
