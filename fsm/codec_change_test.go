package fsm_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm"
	logpb "dormouse/proto/log"
)

// Each field of a change except its position is in its row, under the same name.
func TestAChangeComesBackAsItWas(t *testing.T) {
	places := []string{"Index", "Ordinal", "Time"}
	changed := rapid.MakeCustom[agent.Changed](rapid.MakeConfig{Fields: map[reflect.Type]map[string]*rapid.Generator[any]{
		reflect.TypeFor[agent.Changed](): {"Body": rapid.Just[any](agent.Found(nil))}, // is read when it is asked for
	}})
	rapid.Check(t, func(t *rapid.T) {
		want, row := ptr(changed.Draw(t, "change")), &logpb.Change{}
		for _, place := range places {
			reflect.ValueOf(want).Elem().FieldByName(place).SetZero()
		}
		for i := range reflect.TypeFor[agent.Changed]().NumField() {
			from := reflect.ValueOf(want).Elem().Field(i)
			to := reflect.ValueOf(row).Elem().FieldByName(reflect.TypeFor[agent.Changed]().Field(i).Name)
			if to.IsValid() {
				to.Set(from.Convert(to.Type()))
			}
		}
		raw, err := proto.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		row = &logpb.Change{}
		if err := proto.Unmarshal(raw, row); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, fsm.DecodeChange(row)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// For any content of a row of changes, a page of it ends, and pages of all sizes return the same
// changes.
func FuzzPageOfChanges(f *testing.F) {
	for _, row := range []*logpb.ChangeRow{
		{},
		{TimeMs: -1, Count: 1 << 63},
		{TimeMs: 9, Count: 2, Changes: []*logpb.Change{{Kind: "values", Key: "v", Revision: 1}, {Kind: "timers", Manager: "m", Instance: "i", Key: "t", Deleted: true}}},
		{Count: 1, Changes: []*logpb.Change{{Kind: "messages", Conversation: "c\x00", Key: "m"}, {}, {Agent: "a", Status: "new"}}},
	} {
		raw, err := proto.Marshal(row)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, "", uint8(1))
		f.Add(raw, "values/", uint8(2))
	}
	f.Add([]byte("\xff"), "", uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, prefix string, limit uint8) {
		const index = 7
		whole, err := fsm.PageOfRow(raw, index, 0, prefix, 1<<30)
		if err != nil {
			return
		}
		if whole.Next == index && whole.Skip == 0 {
			t.Fatalf("nothing was looked at: %+v", whole)
		}
		var got []agent.Changed
		for next, skip := uint64(index), uint64(0); next == index && len(got) <= len(whole.Changes); {
			page, err := fsm.PageOfRow(raw, index, skip, prefix, int(limit)+1)
			if err != nil || page.Next == next && page.Skip <= skip {
				t.Fatalf("from %d on: %+v, %v", skip, page, err)
			}
			got = append(got, page.Changes...)
			next, skip = page.Next, page.Skip
			if whole.Next == index && skip >= whole.Skip {
				break // the limit on bytes ended the page
			}
		}
		if len(got) < len(whole.Changes) || !cmp.Equal(got[:len(whole.Changes)], whole.Changes) {
			t.Fatalf("in pages of %d: %s", limit, cmp.Diff(whole.Changes, got))
		}
	})
}
