package agenttest

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/agent"
)

// pages reads all pages of a list and returns its keys in order.
func (k *kit) pages(p agent.Page, read func(agent.Page) agent.Read) []string {
	k.Helper()
	var all []string
	for range 1000 {
		var keys []string
		var next string
		switch list := k.read(read(p)).Answers[0].Found.(type) {
		case *agent.ValueList:
			keys, next = keysOf(list.Items, func(r agent.ValueRow) string { return r.Key }), list.Next
		case *agent.CheckpointList:
			keys, next = keysOf(list.Items, func(r agent.CheckpointRow) string { return r.Key }), list.Next
		case *agent.ThreadList:
			keys, next = keysOf(list.Items, func(r agent.Thread) string { return r.ID }), list.Next
		case *agent.ClaimList:
			keys, next = keysOf(list.Items, func(r agent.Claim) string { return r.Name }), list.Next
		case *agent.ScopeList:
			keys, next = keysOf(list.Items, func(r agent.Scope) string { return r.Name }), list.Next
		case *agent.SessionList:
			keys, next = keysOf(list.Items, func(r agent.SessionRow) string { return r.ID }), list.Next
		default:
			k.Fatalf("listed a %T", list)
		}
		if limit := p.Limit; limit > 0 && uint64(len(keys)) > limit {
			k.Fatalf("%d rows where %d are the limit", len(keys), limit)
		}
		all = append(all, keys...)
		if next == "" {
			return all
		}
		if p.After != "" && (next > p.After) == (p.Order == agent.Descending) {
			k.Fatalf("after %q comes %q", p.After, next)
		}
		p.After = next
	}
	k.Fatal("the pages never end")
	return nil
}

func keysOf[T any](rows []T, key func(T) string) []string {
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = key(row)
	}
	return keys
}

var lists = []struct {
	name  string
	write func(key string) agent.Op
	read  func(agent.Page) agent.Read
}{
	{"values", func(key string) agent.Op { return &agent.PutValue{Key: key} }, func(p agent.Page) agent.Read { return &agent.ListValues{Page: p} }},
	{"checkpoints", func(key string) agent.Op { return &agent.PutCheckpoint{Key: key} }, func(p agent.Page) agent.Read { return &agent.ListCheckpoints{Page: p} }},
	{"threads", func(key string) agent.Op { return &agent.AppendThread{Thread: key} }, func(p agent.Page) agent.Read { return &agent.ListThreads{Page: p} }},
	{"claims", func(key string) agent.Op { return &agent.TakeClaim{Claim: key, Holder: "h"} }, func(p agent.Page) agent.Read { return &agent.ListClaims{Page: p} }},
}

var listClaims = []claim{
	{"lists_are_in_key_order_and_page", func(k *kit) {
		keys := []string{"a", "B", "a/1", "a/2", "a/10", "ab", "é", "b", "a ", "\U0001F600", "z"}
		sorted := slices.Sorted(slices.Values(keys))
		var underA []string
		for _, key := range sorted {
			if strings.HasPrefix(key, "a/") {
				underA = append(underA, key)
			}
		}
		for _, list := range lists {
			k.equal(list.name+" where none are", k.pages(agent.Page{}, list.read), []string(nil))
			var ops []agent.Op
			for _, key := range keys {
				ops = append(ops, list.write(key))
			}
			k.commit(ops...)
			for _, limit := range []uint64{0, 1, 2, 3, uint64(len(keys)), agent.ListLimitMax} {
				k.equal(fmt.Sprintf("%s, %d a page", list.name, limit), k.pages(agent.Page{Limit: limit}, list.read), sorted)
			}
			k.equal(list.name+" with a prefix", k.pages(agent.Page{Prefix: "a/", Limit: 2}, list.read), underA)
			k.equal(list.name+" with a prefix that none has", k.pages(agent.Page{Prefix: "a/1/"}, list.read), []string(nil))
			k.equal(list.name+" after a key that is not there", k.pages(agent.Page{After: "a/11"}, list.read), sorted[slices.Index(sorted, "a/2"):])
			k.equal(list.name+" with a prefix after what is past it", k.pages(agent.Page{Prefix: "a/", After: "b"}, list.read), []string(nil))
		}
	}},

	{"lists_are_read_backwards", func(k *kit) {
		keys := []string{"a", "B", "a/1", "a/2", "a/10", "ab", "é", "z"}
		for _, list := range lists {
			back := func(p agent.Page) []string {
				p.Order = agent.Descending
				return k.pages(p, list.read)
			}
			k.equal(list.name+" where none are", back(agent.Page{}), []string(nil))
			for _, key := range keys {
				k.commit(list.write(key))
			}
			want := slices.Sorted(slices.Values(keys))
			slices.Reverse(want)
			for _, limit := range []uint64{0, 1, 3, uint64(len(keys))} {
				k.equal(fmt.Sprintf("%s, %d a page", list.name, limit), back(agent.Page{Limit: limit}), want)
			}
			k.equal(list.name+" with a prefix", back(agent.Page{Prefix: "a/", Limit: 2}), []string{"a/2", "a/10", "a/1"})
			k.equal(list.name+" before a key that is not there", back(agent.Page{After: "a/11"}), []string{"a/10", "a/1", "a", "B"})
			k.equal(list.name+" with a prefix before what precedes it", back(agent.Page{Prefix: "a/", After: "a"}), []string(nil))
			k.equal(list.name+" with a prefix before what is past it", back(agent.Page{Prefix: "a/", After: "b", Limit: 1}), []string{"a/2", "a/10", "a/1"})
			k.invalidRead("order", list.read(agent.Page{Order: "sideways"}))
		}
	}},

	{"lists_select_by_the_time_of_the_last_change", func(k *kit) {
		for _, list := range lists {
			if list.name == "claims" {
				k.invalidRead("since", list.read(agent.Page{Times: agent.Times{Since: 1}}))
				continue
			}
			var at []int64 // of each key
			for _, key := range []string{"a", "b", "c"} {
				at = append(at, k.commitAt(at, list.write(key)))
			}
			for _, c := range []struct {
				times agent.Times
				want  []string
			}{
				{agent.Times{Since: at[1]}, []string{"b", "c"}},
				{agent.Times{Until: at[1]}, []string{"a"}},
				{agent.Times{Since: at[1], Until: at[2]}, []string{"b"}},
				{agent.Times{Since: at[2] + 1}, nil},
				{agent.Times{Since: at[1], Until: at[1]}, nil},
			} {
				for _, limit := range []uint64{0, 1} {
					k.equal(fmt.Sprintf("%s of %+v", list.name, c.times), k.pages(agent.Page{Times: c.times, Limit: limit}, list.read), c.want)
				}
			}
			k.equal(list.name+" backwards", k.pages(agent.Page{Times: agent.Times{Since: at[0], Until: at[2]}, Order: agent.Descending}, list.read), []string{"b", "a"})
			k.invalidRead("since", list.read(agent.Page{Times: agent.Times{Since: -1}}))
			k.invalidRead("until", list.read(agent.Page{Times: agent.Times{Until: -1}}))
		}
	}},

	{"lists_show_bodies", func(k *kit) {
		k.commit(
			&agent.PutValue{Key: "a", Bytes: []byte("12345"), Metadata: agent.JSON(`{"m":1}`)}, &agent.PutValue{Key: "b"},
			&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":1}`), Metadata: agent.JSON(`{"m":1}`)}, &agent.PutCheckpoint{Key: "b"},
		)
		k.commit(&agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"n":2}`), Metadata: agent.JSON(`{"m":2}`)})
		values := find[*agent.ValueList](k, &agent.ListValues{Body: true}).Items
		k.equal("body", string(*values[0].Body), "12345")
		if values[1].Body == nil || len(*values[1].Body) != 0 {
			k.Fatalf("an empty value is listed as %+v", values[1])
		}
		if row := find[*agent.ValueList](k, &agent.ListValues{}).Items[0]; row.Body != nil {
			k.Fatalf("a list that is not asked for bodies has %q", *row.Body)
		}
		checkpoints := find[*agent.CheckpointList](k, &agent.ListCheckpoints{Body: true}).Items
		k.equal("state", string(checkpoints[0].State)+string(checkpoints[0].Metadata), `{"n":2}{"m":2}`)
		k.equal("empty state", string(checkpoints[1].State)+string(checkpoints[1].Metadata), `{}{}`)
		if row := find[*agent.CheckpointList](k, &agent.ListCheckpoints{}).Items[0]; row.State != nil || row.Metadata != nil {
			k.Fatalf("a list that is not asked for bodies has %+v", row)
		}
	}},

	{"lists_end_without_an_empty_page", func(k *kit) {
		for _, list := range lists {
			k.commit(list.write("a"), list.write("b"))
			switch found := k.read(list.read(agent.Page{Limit: 2})).Answers[0].Found.(type) {
			case *agent.ValueList:
				k.equal("next value", found.Next, "")
			case *agent.CheckpointList:
				k.equal("next checkpoint", found.Next, "")
			case *agent.ThreadList:
				k.equal("next thread", found.Next, "")
			case *agent.ClaimList:
				k.equal("next claim", found.Next, "")
			}
		}
	}},

	{"rows_show_what_is_stored", func(k *kit) {
		result := k.commit(
			&agent.PutValue{Key: "v", ContentType: "text/plain", Bytes: []byte("12345"), TTL: agent.TTLMax},
			&agent.AppendThread{Thread: "t", Entries: messages("m", 0, 2), Metadata: agent.JSON(`{"u":1}`)},
			&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{"n":1}`), Lifecycle: "idle", Thread: &agent.Pointer{Thread: "t", Rev: 2}, TTL: agent.TTLMax},
		)
		expires := result.Time + agent.TTLMax.Milliseconds()
		value := find[*agent.ValueList](k, &agent.ListValues{}).Items[0]
		k.equal("value", value, agent.ValueRow{
			Key: "v", Incarnation: resultOf[*agent.ValueResult](k, result, 0).Incarnation, Revision: 1,
			ContentType: "text/plain", Size: 5, UpdatedAt: result.Time, ExpiresAt: expires,
		})
		k.equal("thread", find[*agent.ThreadList](k, &agent.ListThreads{}).Items[0], k.thread("t"))
		a := k.take("a")
		held := find[*agent.ClaimList](k, &agent.ListClaims{}).Items
		held[0].ExpiresAt = a.ExpiresAt
		k.equal("claim", held, []agent.Claim{a})
		row := find[*agent.CheckpointList](k, &agent.ListCheckpoints{}).Items[0]
		checkpoint := resultOf[*agent.CheckpointResult](k, result, 2)
		if row.Bytes < uint64(len(`{"n":1}`)) {
			k.Fatalf("a checkpoint of %d bytes", row.Bytes)
		}
		k.equal("checkpoint", row, agent.CheckpointRow{
			Key: "c", Incarnation: checkpoint.Incarnation, Revision: 1, Bytes: row.Bytes,
			Thread: checkpoint.Thread, Lifecycle: "idle", UpdatedAt: result.Time, ExpiresAt: expires,
		})
	}},

	{"lists_leave_out_what_is_deleted", func(k *kit) {
		for _, list := range lists {
			k.commit(list.write("a"), list.write("b"), list.write("c"))
		}
		b := *find[*agent.Claim](k, &agent.GetClaim{Claim: "b"})
		k.commit(&agent.DeleteValue{Key: "b"}, &agent.DeleteCheckpoint{Key: "b"}, &agent.DeleteThread{Thread: "b"}, release(b))
		for _, list := range lists {
			k.equal(list.name, k.pages(agent.Page{Limit: 1}, list.read), []string{"a", "c"})
		}
	}},
}
