package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

func tagged(user string) agent.JSON { return agent.JSON(`{"user":"` + user + `"}`) }

func byUser(user string) agent.Where { return agent.Where{{Key: "user", Value: user}} }

// built applies empty entries until the index of metadata is built, and returns their number.
func (r *subject) built() (entries int) {
	r.tb.Helper()
	for read[*agent.Scope](r, &agent.GetScope{}).MetadataBuilding {
		r.feed(nil)
		if entries++; entries > 1000 {
			r.tb.Fatal("the build does not end")
		}
	}
	return entries
}

// Rows from before a declaration are added a bounded number at a time, and writes meanwhile are
// neither lost nor duplicated.
func TestTheIndexOfMetadataIsBuiltInSteps(t *testing.T) {
	const old, step = 1000, 256
	r := recording(t)
	for chunk := range slices.Chunk(slices.Collect(func(yield func(int) bool) {
		for i := range old {
			if !yield(i) {
				return
			}
		}
	}), 200) {
		var values, checkpoints []agent.Op
		for _, i := range chunk {
			key := fmt.Sprintf("%04d", i)
			values = append(values, &agent.PutValue{Key: key, Metadata: tagged("ann")})
			checkpoints = append(checkpoints, &agent.PutCheckpoint{Key: key, Metadata: tagged("ann")})
		}
		do[*agent.ValueResult](r, values...)
		do[*agent.CheckpointResult](r, checkpoints...)
	}
	do[*agent.SessionResult](r, &agent.PutSession{Session: "s", Agent: "a", Metadata: tagged("ann")})
	do[*agent.ScopeResult](r, &agent.IndexMetadata{Keys: []string{"user"}})
	r.missing(agent.CodeUnavailable, &agent.ListValues{Where: byUser("ann")})
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "0999"})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "0998", Metadata: tagged("bob")})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "0000a", Metadata: tagged("ann")})
	before := r.rows(kv.KindMetadata)
	for read[*agent.Scope](r, &agent.GetScope{}).MetadataBuilding {
		r.feed(nil)
		now := r.rows(kv.KindMetadata)
		if now > before+step {
			t.Fatalf("an entry adds %d rows", now-before)
		}
		before = now
	}
	if want := old + old + 1; before != want { // one value is gone, one is new, one has another user
		t.Errorf("the index has %d rows, want %d", before, want)
	}
	var all []string
	for q := (&agent.ListValues{Where: byUser("ann")}); ; {
		page := read[*agent.ValueList](r, q)
		for _, row := range page.Items {
			all = append(all, row.Key)
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if len(all) != old-1 || all[1] != "0000a" || slices.Contains(all, "0998") || slices.Contains(all, "0999") {
		t.Errorf("%d values of ann: %q …", len(all), all[:min(3, len(all))])
	}
	again := openSubject(t, fsm.Options{Dir: "again", FS: storage.MemFS()})
	for _, entry := range r.log {
		again.replay(entry)
	}
	if again.hash() != r.hash() {
		t.Error("replayed, the log gives another state")
	}
}

func TestTheIndexOfMetadataGoesWithItsKeysAndItsScope(t *testing.T) {
	r := recording(t)
	do[*agent.ScopeResult](r, &agent.IndexMetadata{Keys: []string{"user", "n"}})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v", Metadata: agent.JSON(`{"user":"ann","n":1}`)})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "w", Metadata: tagged("ann"), TTL: time.Second})
	r.built()
	if n := r.rows(kv.KindMetadata); n != 3 {
		t.Fatalf("the index has %d rows", n)
	}
	r.after(time.Minute)
	r.feed(nil)
	if n := r.rows(kv.KindMetadata); n != 2 {
		t.Errorf("after an expiry the index has %d rows", n)
	}
	do[*agent.ScopeResult](r, &agent.IndexMetadata{Keys: []string{"n"}})
	if n := r.rows(kv.KindMetadata); n != 1 {
		t.Errorf("of one key the index has %d rows", n)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	if n := r.rows(kv.KindMetadata) + r.rows(kv.KindMetadataBuild); n != 0 {
		t.Errorf("%d rows are left of a deleted scope", n)
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v", Metadata: tagged("ann")})
	r.missing(agent.CodeInvalid, &agent.ListValues{Where: agent.Where{{Key: "n", Value: "1"}}})
}

func TestAnImportBuildsTheIndexOfMetadata(t *testing.T) {
	source := recording(t)
	do[*agent.ScopeResult](source, &agent.IndexMetadata{Keys: []string{"user"}})
	do[*agent.ValueResult](source, &agent.PutValue{Key: "v", Metadata: tagged("ann")})
	do[*agent.CheckpointResult](source, &agent.PutCheckpoint{Key: "c", Metadata: tagged("ann")})
	source.built()
	target := recording(t)
	importInto(target, agent.DefaultScope, exportOf(source, agent.DefaultScope), 1)
	target.built()
	if list := read[*agent.ValueList](target, &agent.ListValues{Where: byUser("ann")}); len(list.Items) != 1 {
		t.Errorf("values: %+v", list)
	}
	if list := read[*agent.CheckpointList](target, &agent.ListCheckpoints{Where: byUser("ann")}); len(list.Items) != 1 {
		t.Errorf("checkpoints: %+v", list)
	}
}

func TestNoIndexOfMetadataBelowItsLevel(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.MetadataLevel - 1)
	r.refuse(agent.CodeUnavailable, &agent.IndexMetadata{Keys: []string{"user"}})
	if n := r.rows(kv.KindMetadataBuild); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

// After any writes the index gives what a scan of all rows gives.
func TestTheIndexOfMetadataEqualsAScan(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		r := newSubject(tt)
		defer r.close()
		r.record()
		do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: rapid.Uint64Range(1, 2).Draw(t, "history")}})
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		metadata := rapid.SampledFrom([]string{`{}`, `{"x":"1"}`, `{"x":1,"y":"2"}`, `{"x":{"x":"1"}}`, `{"y":"2","z":true}`})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			_, _ = r.try(rapid.SampledFrom([]func() agent.Op{
				func() agent.Op {
					keys := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), func(k string) string { return k }).Draw(t, "keys")
					return &agent.IndexMetadata{Keys: keys}
				},
				func() agent.Op {
					ttl := rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "ttl")
					return &agent.PutValue{Key: key.Draw(t, "key"), Metadata: agent.JSON(metadata.Draw(t, "metadata")), TTL: ttl}
				},
				func() agent.Op {
					from, to := key.Draw(t, "key"), key.Draw(t, "to")
					if to == from {
						to = ""
					}
					return &agent.ReviseValue{Key: from, To: to, Metadata: agent.JSON(metadata.Draw(t, "metadata"))}
				},
				func() agent.Op { return &agent.DeleteValue{Key: key.Draw(t, "key")} },
				func() agent.Op {
					return &agent.PutCheckpoint{Key: key.Draw(t, "key"), Metadata: agent.JSON(metadata.Draw(t, "metadata"))}
				},
				func() agent.Op {
					return &agent.PatchCheckpoint{Key: key.Draw(t, "key"), Patch: agent.JSON(`{"n":1}`)}
				},
				func() agent.Op { return &agent.DeleteCheckpoint{Key: key.Draw(t, "key")} },
				func() agent.Op {
					return &agent.ForkAgent{Agent: key.Draw(t, "key"), NewAgent: rapid.SampledFrom([]string{"e", "f"}).Draw(t, "to")}
				},
				func() agent.Op { return &agent.EraseAgent{Agent: key.Draw(t, "key")} },
			}).Draw(t, "op")())
			r.after(100 * time.Millisecond)
		}
		r.built()
		for _, name := range read[*agent.Scope](r, &agent.GetScope{}).MetadataKeys {
			for _, value := range []string{"1", "2", "true"} {
				where := agent.Where{{Key: name, Value: value}}
				var want, got []string
				for _, row := range read[*agent.ValueList](r, &agent.ListValues{}).Items {
					if where.Match(row.Metadata) {
						want = append(want, "value "+row.Key)
					}
				}
				for _, row := range read[*agent.CheckpointList](r, &agent.ListCheckpoints{Body: true}).Items {
					if where.Match(row.Metadata) {
						want = append(want, "checkpoint "+row.Key)
					}
				}
				for _, row := range read[*agent.ValueList](r, &agent.ListValues{Where: where}).Items {
					got = append(got, "value "+row.Key)
				}
				for _, row := range read[*agent.CheckpointList](r, &agent.ListCheckpoints{Where: where}).Items {
					got = append(got, "checkpoint "+row.Key)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s = %s (-scan +index):\n%s", name, value, diff)
				}
			}
		}
	})
}

func TestTheLimitsOfMetadataKeys(t *testing.T) {
	eight := strings.Split("abcdefgh", "")
	at, past := strings.Repeat("k", agent.MetadataKeyBytesMax), strings.Repeat("k", agent.MetadataKeyBytesMax+1)
	for _, c := range []struct {
		keys []string
		code agent.Code
	}{
		{eight, ""}, {append(eight[:8:8], "i"), agent.CodeTooLarge}, {[]string{at}, ""}, {[]string{past}, agent.CodeTooLarge},
	} {
		if err := agent.ValidMetadataKeys(c.keys); agent.CodeOf(err) != c.code && (err != nil || c.code != "") {
			t.Errorf("%d keys of %d bytes: %v, want %q", len(c.keys), len(c.keys[0]), err, c.code)
		}
	}
	for value, code := range map[string]agent.Code{
		strings.Repeat("v", agent.MetadataValueBytesMax): "", strings.Repeat("v", agent.MetadataValueBytesMax+1): agent.CodeTooLarge,
	} {
		reads := agent.Reads{Reads: []agent.Read{&agent.ListValues{Where: byUser(value)}}}
		if err := reads.Validate(); agent.CodeOf(err) != code && (err != nil || code != "") {
			t.Errorf("a value of %d bytes: %v, want %q", len(value), err, code)
		}
	}
}
