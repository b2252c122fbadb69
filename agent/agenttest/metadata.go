package agenttest

import (
	"fmt"
	"slices"
	"time"

	"dormouse/agent"
)

// where selects rows by one member of their metadata.
func where(pairs ...string) (w agent.Where) {
	for pair := range slices.Chunk(pairs, 2) {
		w = append(w, agent.MetadataEquals{Key: pair[0], Value: pair[1]})
	}
	return w
}

// byMetadata are the lists that select by metadata, and a write of a row with some.
var byMetadata = []struct {
	name   string
	write  func(key, metadata string) agent.Op
	remove func(key string) agent.Op
	read   func(agent.Page, agent.Where) agent.Read
}{
	{
		"values", func(key, metadata string) agent.Op { return &agent.PutValue{Key: key, Metadata: agent.JSON(metadata)} },
		func(key string) agent.Op { return &agent.DeleteValue{Key: key} },
		func(p agent.Page, w agent.Where) agent.Read { return &agent.ListValues{Page: p, Where: w} },
	},
	{
		"checkpoints", func(key, metadata string) agent.Op {
			return &agent.PutCheckpoint{Key: key, Metadata: agent.JSON(metadata)}
		},
		func(key string) agent.Op { return &agent.DeleteCheckpoint{Key: key} },
		func(p agent.Page, w agent.Where) agent.Read { return &agent.ListCheckpoints{Page: p, Where: w} },
	},
	{
		"sessions", func(key, metadata string) agent.Op {
			return &agent.PutSession{Session: key, Agent: "a", Mode: agent.SessionModeClassic, Metadata: agent.JSON(metadata)}
		},
		func(key string) agent.Op { return &agent.DeleteSession{Session: key} },
		func(p agent.Page, w agent.Where) agent.Read { return &agent.ListSessions{Page: p, Where: w} },
	},
}

// declare declares keys of metadata, and waits until their index is built. A new cluster is
// unavailable until all nodes report that they support it.
func (k *kit) declare(keys ...string) {
	k.Helper()
	err := k.onceAble(func() error {
		_, err := k.send(agent.Commit{Ops: []agent.Op{&agent.IndexMetadata{Keys: keys}}})
		return err
	})
	if err != nil {
		k.Fatal(err)
	}
	for find[*agent.Scope](k, &agent.GetScope{}).MetadataBuilding {
		time.Sleep(time.Millisecond)
	}
}

var metadataClaims = []claim{
	{"lists_select_by_declared_members_of_metadata", func(k *kit) {
		rows := map[string]string{
			"a": `{"user":"ann","n":1}`, "b": `{"user":"bob","n":1}`, "c": `{"user":"ann","n":1.0}`, "d": `{"user":["ann"],"n":true}`, "e": `{"n":"true","user":null}`, "f": `{}`,
			"g": `{"other":{"user":"ann"},"user":"\u0061nn"}`,
		}
		keys := []string{"a", "b", "c", "d", "e", "f", "g"}
		for _, list := range byMetadata { // some rows are older than the index
			for _, key := range keys[:4] {
				k.commit(list.write(key, rows[key]))
			}
		}
		k.declare("user", "n")
		for _, list := range byMetadata {
			for _, key := range keys[4:] {
				k.commit(list.write(key, rows[key]))
			}
			for _, c := range []struct {
				where agent.Where
				want  []string
			}{
				{where("user", "ann"), []string{"a", "c", "g"}},
				{where("user", "bob"), []string{"b"}},
				{where("user", "ann", "n", "1"), []string{"a"}},
				{where("n", "1"), []string{"a", "b"}},
				{where("n", "true"), []string{"d", "e"}},
				{where("user", ""), nil},
				{where("user", "an"), nil},
			} {
				for _, limit := range []uint64{0, 1} {
					got := k.pages(agent.Page{Limit: limit}, func(p agent.Page) agent.Read { return list.read(p, c.where) })
					k.equal(fmt.Sprintf("%s where %v", list.name, c.where), got, c.want)
				}
			}
			back := k.pages(agent.Page{Order: agent.Descending, Prefix: "c"}, func(p agent.Page) agent.Read { return list.read(p, where("user", "ann")) })
			k.equal(list.name+" backwards", back, []string{"c"})
		}
	}},

	{"the_index_of_metadata_follows_writes_and_deletes", func(k *kit) {
		k.declare("user")
		k.commit(&agent.PutScope{Policy: agent.Policy{History: 1}})
		for _, list := range byMetadata {
			ann := func() []string {
				return k.pages(agent.Page{}, func(p agent.Page) agent.Read { return list.read(p, where("user", "ann")) })
			}
			k.commit(list.write("a", `{"user":"ann"}`), list.write("b", `{"user":"ann"}`), list.write("c", `{"user":"bob"}`))
			k.equal(list.name, ann(), []string{"a", "b"})
			k.commit(list.write("a", `{"user":"bob"}`), list.write("c", `{"user":"ann"}`), list.write("c", `{"user":"ann","n":1}`))
			k.equal(list.name+" written again", ann(), []string{"b", "c"})
			k.commit(list.remove("b"))
			k.equal(list.name+" deleted", ann(), []string{"c"})
			k.commit(list.write("b", `{}`))
			k.equal(list.name+" made again", ann(), []string{"c"})
		}
		k.commit(&agent.ReviseValue{Key: "c", To: "d"})
		list := find[*agent.ValueList](k, &agent.ListValues{Where: where("user", "ann")}).Items
		if len(list) != 1 || list[0].Key != "d" {
			k.Fatalf("after a value has moved: %+v", list)
		}
		k.commit(&agent.ReviseValue{Key: "d", Metadata: agent.JSON(`{"user":"eve"}`)})
		k.equal("revised", len(find[*agent.ValueList](k, &agent.ListValues{Where: where("user", "ann")}).Items), 0)
	}},

	{"only_declared_keys_of_metadata_are_listed_by", func(k *kit) {
		k.declare("b", "a")
		k.equal("declared", find[*agent.Scope](k, &agent.GetScope{}).MetadataKeys, []string{"a", "b"})
		for _, list := range byMetadata {
			e := k.lacks(agent.CodeInvalid, list.read(agent.Page{}, where("c", "1")))
			k.equal("field", e.Field, "metadata")
			k.lacks(agent.CodeInvalid, list.read(agent.Page{}, where("a", "1", "c", "1")))
			k.commit(list.write("x", `{"a":"1","b":"1"}`))
		}
		k.declare("b")
		for _, list := range byMetadata {
			k.lacks(agent.CodeInvalid, list.read(agent.Page{}, where("a", "1")))
			k.commit(list.write("x", `{"a":"2","b":"2"}`))
		}
		k.declare("a")
		for _, list := range byMetadata {
			for value, want := range map[string][]string{"1": nil, "2": {"x"}} {
				k.equal(list.name+" of a key that is declared again", k.pages(agent.Page{}, func(p agent.Page) agent.Read { return list.read(p, where("a", value)) }), want)
			}
		}
		k.declare()
		k.lacks(agent.CodeInvalid, byMetadata[0].read(agent.Page{}, where("a", "2")))
	}},

	{"wrong_keys_of_metadata_are_refused", func(k *kit) {
		long := string(make([]byte, agent.MetadataKeyBytesMax+1))
		for _, keys := range [][]string{{""}, {"a\x00"}, {"a", "a"}, {"\xff"}} {
			k.refuseInvalid(agent.CodeInvalid, 0, "keys", &agent.IndexMetadata{Keys: keys})
		}
		k.refuseInvalid(agent.CodeTooLarge, 0, "keys", &agent.IndexMetadata{Keys: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}})
		k.invalidRead("metadata", &agent.ListValues{Where: where("", "1")})
		k.invalidRead("metadata", &agent.ListValues{Where: where(long, "1")})
		k.invalidRead("metadata", &agent.ListValues{Where: where("a", "1", "a", "2")})
		k.invalidRead("status", &agent.ListSessions{Where: where("a", "1"), Agent: "a"})
	}},
}
