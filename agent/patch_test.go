package agent_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"dormouse/agent"
)

// mergePatchTable holds the cases of RFC 7396, appendix A, for objects, and cases of
// order, literals and escapes, which the RFC leaves open.
var mergePatchTable = []struct{ name, doc, patch, want string }{
	{"replace", `{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
	{"add", `{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
	{"remove the last", `{"a":"b"}`, `{"a":null}`, `{}`},
	{"remove one", `{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
	{"array by value", `{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
	{"value by array", `{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
	{"nested", `{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
	{"array of objects by array", `{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
	{"array doc", `["a","b"]`, `["c","d"]`, `["c","d"]`},
	{"object by array", `{"a":"b"}`, `["c"]`, `["c"]`},
	{"by null", `{"a":"foo"}`, `null`, `null`},
	{"by string", `{"a":"foo"}`, `"bar"`, `"bar"`},
	{"null in the doc stays", `{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
	{"array doc by object", `[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
	{"nulls of new objects go", `{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	{"nulls in arrays stay", `{}`, `{"a":[null,{"b":null}]}`, `{"a":[null,{"b":null}]}`},
	{"order stays, new ones in the patch's", `{"z":1,"y":2,"x":3}`, `{"new2":1,"y":9,"new1":2,"z":{"k":1}}`, `{"z":{"k":1},"y":9,"x":3,"new2":1,"new1":2}`},
	{"literals stay", `{"n":9007199254740993,"f":1.0}`, `{"g":1.50,"m":18446744073709551615}`, `{"n":9007199254740993,"f":1.0,"g":1.50,"m":18446744073709551615}`},
	{"HTML is not escaped", `{"h":"<&>"}`, `{"i":"</b>"}`, `{"h":"<&>","i":"</b>"}`},
	{"names are compared unescaped", `{"\u0061":1,"b":2}`, `{"a":3,"\u0062":null}`, `{"\u0061":3}`},
	{"an empty patch changes nothing", `{"a":1}`, `{}`, `{"a":1}`},
	{"an empty object patch of a scalar", `{"a":1}`, `{"a":{}}`, `{"a":{}}`},
}

func TestMergePatch(t *testing.T) {
	for _, c := range mergePatchTable {
		t.Run(c.name, func(t *testing.T) {
			got, err := agent.MergePatch(agent.JSON(c.doc), agent.JSON(c.patch))
			if err != nil || string(got) != c.want {
				t.Fatalf("%s patched with %s = %s, %v; want %s", c.doc, c.patch, got, err, c.want)
			}
		})
	}
}

func TestAssignMembers(t *testing.T) {
	for _, c := range []struct{ name, doc, patch, want string }{
		{"objects are replaced", `{"a":{"b":1,"c":2}}`, `{"a":{"b":3}}`, `{"a":{"b":3}}`},
		{"null removes", `{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		{"nulls inside stay", `{"a":1}`, `{"a":{"b":null},"c":[null]}`, `{"a":{"b":null},"c":[null]}`},
		{"nulls of new members go", `{}`, `{"a":null}`, `{}`},
		{"order stays", `{"z":1,"y":2}`, `{"x":3,"y":4}`, `{"z":1,"y":4,"x":3}`},
		{"literals stay", `{"n":9007199254740993}`, `{"f":1.50}`, `{"n":9007199254740993,"f":1.50}`},
		{"a patch of one level is a merge patch", `{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := agent.AssignMembers(agent.JSON(c.doc), agent.JSON(c.patch))
			if err != nil || string(got) != c.want {
				t.Fatalf("%s patched with %s = %s, %v; want %s", c.doc, c.patch, got, err, c.want)
			}
		})
	}
}

func FuzzMergePatch(f *testing.F) {
	for _, c := range mergePatchTable {
		f.Add([]byte(c.doc), []byte(c.patch))
	}
	f.Fuzz(func(t *testing.T, rawDoc, rawPatch []byte) {
		doc, err1 := agent.Compact(rawDoc)
		patch, err2 := agent.Compact(rawPatch)
		if err1 != nil || err2 != nil {
			if got, err := agent.MergePatch(rawDoc, rawPatch); err == nil && !json.Valid(got) {
				t.Fatalf("%q patched with %q gave %q", rawDoc, rawPatch, got)
			}
			return
		}
		got, err := agent.MergePatch(doc, patch)
		if err != nil {
			t.Fatalf("%s patched with %s: %v", doc, patch, err)
		}
		if again, _ := agent.MergePatch(doc, patch); !bytes.Equal(again, got) {
			t.Fatalf("not deterministic: %s, then %s", got, again)
		}
		if compact, err := agent.Compact(got); err != nil || !bytes.Equal(compact, got) {
			t.Fatalf("%s patched with %s gave %s: %v", doc, patch, got, err)
		}
		if want := mergeByTheBook(decode(t, doc), decode(t, patch)); !reflect.DeepEqual(decode(t, got), want) {
			t.Fatalf("%s patched with %s gave %s, want %v", doc, patch, got, want)
		}
	})
}

// mergeByTheBook implements the pseudocode of RFC 7396, section 2.
func mergeByTheBook(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = mergeByTheBook(object[name], value)
		}
	}
	return object
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return value
}
