package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dormouse/server/rest"
)

// emptied returns a body for each string in a schema of the document, in which that string is
// empty, keyed by the name of its member. It leaves out strings that may be empty, whose schema has
// minLength 0.
func emptied(schemas map[string]any, schema map[string]any, name string, within []string) map[string]any {
	if ref, ok := schema["$ref"].(string); ok {
		ref = ref[strings.LastIndexByte(ref, '/')+1:]
		if slices.Contains(within, ref) {
			return nil
		}
		return emptied(schemas, schemas[ref].(map[string]any), name, append(within, ref))
	}
	out := map[string]any{}
	for _, union := range []string{"oneOf", "anyOf"} {
		all, _ := schema[union].([]any)
		for _, each := range all {
			maps.Copy(out, emptied(schemas, each.(map[string]any), name, within))
		}
	}
	if is(schema, "string") && schema["minLength"] != 0.0 && schema["contentEncoding"] == nil {
		out[name] = ""
	}
	if items, ok := schema["items"].(map[string]any); ok {
		for at, body := range emptied(schemas, items, name, within) {
			out[at] = []any{body}
		}
	}
	members, _ := schema["properties"].(map[string]any)
	for member, s := range members {
		s := s.(map[string]any)
		if member == "op" || member == "read" {
			continue // the discriminator
		}
		for at, body := range emptied(schemas, s, member, within) {
			document := map[string]any{member: body}
			for _, key := range []string{"op", "read"} {
				if named, ok := members[key].(map[string]any); ok && named["enum"] != nil {
					document[key] = named["enum"].([]any)[0]
					at = fmt.Sprint(document[key], " ", at)
				}
			}
			out[at] = document
		}
	}
	return out
}

func is(schema map[string]any, kind string) bool {
	switch t := schema["type"].(type) {
	case string:
		return t == kind
	case []any:
		return slices.Contains(t, any(kind))
	}
	return false
}

// Tests every string of every body and every parameter of every call, except those documented as
// possibly empty. New fields are tested automatically.
func TestEmptyStringsAreInvalidNeverAbsent(t *testing.T) {
	_, doc := document(t)
	k := newKitWith(t, rest.Options{Node: "n1", Metrics: http.NotFoundHandler()})
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	tested := 0
	check := func(got answer, name, what string) {
		tested++
		var problem map[string]any
		if err := json.Unmarshal(got.Body.Bytes(), &problem); err != nil || got.Code != 400 || problem["code"] != "invalid" {
			t.Errorf("%s: %d %s", what, got.Code, got.Body)
			return
		}
		field, _ := problem["field"].(string)
		field, _, _ = strings.Cut(field[strings.LastIndexByte(field, '.')+1:], "[")
		if field != name {
			t.Errorf("%s: the field is %v, not %s: %s", what, problem["field"], name, got.Body)
		}
	}
	for path, methods := range doc["paths"].(map[string]any) {
		url := strings.NewReplacer("{", "", "}", "").Replace(path)
		for method, op := range methods.(map[string]any) {
			method, op := strings.ToUpper(method), op.(map[string]any)
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				p := p.(map[string]any)
				schema, name := p["schema"].(map[string]any), p["name"].(string)
				switch {
				case p["in"] == "query" && name != "prefix" && name != "after":
					check(k.call(method, url+"?"+name+"=", ""), name, method+" "+path+"?"+name+"=")
				case p["in"] == "header" && is(schema, "string") && name != "Last-Event-ID":
					check(k.call(method, url, "", name+": "), name, method+" "+path+" with "+name)
				}
			}
			body, _ := op["requestBody"].(map[string]any)
			content, _ := body["content"].(map[string]any)
			media, ok := content["application/json"].(map[string]any)
			if !ok {
				continue
			}
			for at, body := range emptied(schemas, media["schema"].(map[string]any), "", nil) {
				raw, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				check(k.call(method, url, string(raw)), at[strings.LastIndexByte(at, ' ')+1:], method+" "+path+" "+string(raw))
			}
		}
	}
	if tested < 500 {
		t.Errorf("%d strings were tested: the document is not read as it is written", tested)
	}
	if k.fake.Index() != 0 {
		t.Error("something was applied")
	}
}

// Strings that may be empty are listed here by member, so that a new one must be added on purpose.
func TestTextThatMayBeEmptyIsListed(t *testing.T) {
	_, doc := document(t)
	var have []string
	for _, schema := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		members, _ := schema.(map[string]any)["properties"].(map[string]any)
		for name, member := range members {
			if member.(map[string]any)["minLength"] == 0.0 && !slices.Contains(have, name) {
				have = append(have, name)
			}
		}
	}
	slices.Sort(have)
	if want := []string{"after", "content", "note", "prefix", "query", "reason", "text_contains", "time_zone"}; !slices.Equal(have, want) {
		t.Errorf("empty may be %q, not %q", have, want)
	}
}

func TestANullStateIsInvalid(t *testing.T) {
	k := newKit(t)
	for _, c := range [][3]string{
		{"PUT", "/v1/checkpoints/a", `{"state":null}`},
		{"POST", "/v1/agents/a/hibernate", `{"state":null}`},
		{"PUT", "/v1/conversations/a", `{"lifecycle":"completion","state":null}`},
		{"POST", "/v1/commits", `{"ops":[{"op":"put_checkpoint","key":"a","state":null}]}`},
	} {
		got := k.call(c[0], c[1], c[2])
		got.want(got.problem(400, "invalid"), map[string]any{"field": "state"})
	}
}
