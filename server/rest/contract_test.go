package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"dormouse/api/openapi"
)

// recorded is one request of the corpus with its answer.
type recorded struct {
	at           string // file and number of the request
	service      string // that answers it
	method, path string
	body         string
	status       string
	headers      map[string]string
	answer       string
}

// recordings returns all requests of the corpus.
func recordings(t *testing.T) []recorded {
	t.Helper()
	files, err := filepath.Glob(corpusDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("the corpus has no files: %v", err)
	}
	var all []recorded
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, service := 0, ""
		for line := range strings.Lines(string(raw)) {
			kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			last := len(all) - 1
			switch {
			case kind == "%":
				service = strings.TrimPrefix(rest, "service ")
			case kind == "$" && !strings.Contains(rest, ": "):
				n++
				method, path, _ := strings.Cut(rest, " ")
				path, _, _ = strings.Cut(path, "?")
				all = append(all, recorded{at: fmt.Sprintf("%s, request %d", filepath.Base(file), n), service: service, method: method, path: path, headers: map[string]string{}})
			case kind == "|":
				all[last].body += rest + "\n"
			case kind == ">":
				all[last].answer += rest + "\n"
			case kind == "<" && all[last].status == "":
				all[last].status = rest
			case kind == "<" && !strings.HasPrefix(rest, "without "):
				name, value, _ := strings.Cut(rest, ": ")
				all[last].headers[name] = value
			}
		}
	}
	return all
}

// contractCheck checks requests and answers against the document.
type contractCheck struct {
	paths    map[string]any
	doc      map[string]any
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

func newContractCheck(t *testing.T) *contractCheck {
	t.Helper()
	raw, doc := document(t)
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := &contractCheck{paths: doc["paths"].(map[string]any), doc: doc, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	if err := c.compiler.AddResource("doc.json", decoded); err != nil {
		t.Fatal(err)
	}
	return c
}

// operation returns the path in the document and the operation that serves a request.
func (c *contractCheck) operation(method, path string) (template string, op map[string]any) {
	given := strings.Split(path, "/")
	for template, item := range c.paths {
		segments := strings.Split(template, "/")
		matches := len(segments) == len(given)
		for i := range segments {
			matches = matches && (segments[i] == given[i] || strings.HasPrefix(segments[i], "{"))
		}
		if op, ok := item.(map[string]any)[strings.ToLower(method)].(map[string]any); ok && matches {
			if !strings.Contains(template, "{") || !c.literal(method, path) {
				return template, op
			}
		}
	}
	return "", nil
}

// literal reports whether the document has the path itself.
func (c *contractCheck) literal(method, path string) bool {
	item, ok := c.paths[path].(map[string]any)
	return ok && item[strings.ToLower(method)] != nil
}

// valid checks a JSON value against the schema at a pointer of the document.
func (c *contractCheck) valid(pointer, raw string) error {
	schema := c.compiled[pointer]
	if schema == nil {
		var err error
		if schema, err = c.compiler.Compile("doc.json#" + pointer); err != nil {
			return err
		}
		c.compiled[pointer] = schema
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%w in %s", err, raw)
	}
	return schema.Validate(value)
}

// pointed returns the pointer of the members below the root.
func pointed(members ...string) string {
	var b strings.Builder
	for _, member := range members {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(member))
	}
	return b.String()
}

// usualHeaders are those that the document need not declare: HTTP defines them, or all answers
// have them.
var usualHeaders = []string{"Content-Type", "Cache-Control", "X-Content-Type-Options", "Content-Disposition", "Content-Security-Policy", "X-Accel-Buffering", "Allow", "Vary"}

// answered checks an answer.
func (c *contractCheck) answered(e recorded, template string, op map[string]any) error {
	responses := op["responses"].(map[string]any)
	response, ok := responses[e.status].(map[string]any)
	if !ok {
		return fmt.Errorf("it does not declare the status %s", e.status)
	}
	at := pointed("paths", template, strings.ToLower(e.method), "responses", e.status)
	problem := false
	if ref, ok := response["$ref"].(string); ok {
		at = strings.TrimPrefix(ref, "#")
		response = c.doc["components"].(map[string]any)["responses"].(map[string]any)[filepath.Base(ref)].(map[string]any)
		problem = true
	}
	declared, _ := response["headers"].(map[string]any)
	for name := range e.headers {
		if name == "Etag" { // net/http's spelling
			name = "ETag"
		}
		known := slices.Contains(usualHeaders, name) || problem && strings.HasPrefix(name, "Dormouse-")
		if declared[name] == nil && !known {
			return fmt.Errorf("it does not declare the header %s of %s", name, e.status)
		}
	}
	content, _ := response["content"].(map[string]any)
	if e.answer == "" || e.method == http.MethodHead {
		return nil
	}
	kind, _, _ := strings.Cut(e.headers["Content-Type"], ";")
	if content["application/octet-stream"] != nil {
		return nil // bytes of any type
	}
	if content[kind] == nil {
		return fmt.Errorf("it does not declare %s as the type of %s", kind, e.status)
	}
	schema := at + pointed("content", kind, "schema")
	switch {
	case kind == "text/event-stream":
		return c.events(at+pointed("content", kind), content[kind].(map[string]any), e.answer)
	case strings.HasSuffix(kind, "json"):
		if _, err := c.elements(template, e.answer); err != nil {
			return err
		}
		return c.valid(schema, e.answer)
	}
	return nil
}

// events checks the events of a stream.
func (c *contractCheck) events(at string, media map[string]any, stream string) error {
	kinds := media["x-dormouse-events"].(map[string]any)
	var kind string
	for line := range strings.Lines(stream) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			kind = value
		case "data":
			ref, ok := kinds[kind].(string)
			if !ok {
				return fmt.Errorf("it does not declare events of kind %s", kind)
			}
			if err := c.valid(strings.TrimPrefix(ref, "#"), value); err != nil {
				return err
			}
			if err := c.valid(at+"/schema", value); err != nil {
				return err
			}
		}
	}
	return nil
}

// asked checks the body of a request that the server took.
func (c *contractCheck) asked(e recorded, template string, op map[string]any) error {
	body, _ := op["requestBody"].(map[string]any)
	if body == nil || e.body == "" {
		return nil
	}
	for kind := range body["content"].(map[string]any) {
		if strings.HasSuffix(kind, "json") {
			if several, err := c.elements(template, e.body); several || err != nil {
				return err
			}
			return c.valid(pointed("paths", template, strings.ToLower(e.method), "requestBody", "content", kind, "schema"), e.body)
		}
	}
	return nil
}

// several are the arrays whose elements a member names, with the schema of an element.
var several = []struct{ union, array, name string }{
	{"Op", "ops", "op"}, {"Read", "reads", "read"}, {"Result", "results", "op"}, {"Answer", "answers", "read"},
}

// elements checks each op, read, result or answer of a body by its name, so that an error is about
// that one alone. It returns false if the body has none, or is of another call.
func (c *contractCheck) elements(template, body string) (bool, error) {
	if template != "/v1/commits" && template != "/v1/reads" {
		return false, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		return false, err
	}
	for _, s := range several {
		var all []json.RawMessage
		if raw := members[s.array]; len(raw) < 2 || raw[0] != '[' {
			continue
		}
		if err := json.Unmarshal(members[s.array], &all); err != nil {
			return false, err
		}
		for _, raw := range all {
			var element map[string]any
			if err := json.Unmarshal(raw, &element); err != nil {
				return false, err
			}
			name, _ := element[s.name].(string)
			schema := c.mapped(s.union, name)
			if schema == "" {
				return true, fmt.Errorf("%s has no %q", s.union, name)
			}
			if err := c.valid(strings.TrimPrefix(schema, "#"), string(raw)); err != nil {
				return true, err
			}
		}
		return len(all) > 0, nil
	}
	return false, nil
}

// mapped returns the reference to the schema of a name in a union.
func (c *contractCheck) mapped(union, name string) string {
	schema := c.doc["components"].(map[string]any)["schemas"].(map[string]any)[union].(map[string]any)
	ref, _ := schema["discriminator"].(map[string]any)["mapping"].(map[string]any)[name].(string)
	return ref
}

// TestTheCorpusIsAsTheDocumentSays checks each answer of the corpus against the document: status,
// headers, type and body. So it does with each request that a store took: the other servers take all.
func TestTheCorpusIsAsTheDocumentSays(t *testing.T) {
	c := newContractCheck(t)
	checked := 0
	for _, e := range recordings(t) {
		template, op := c.operation(e.method, e.path)
		if op == nil {
			continue // a path or method that the server refuses
		}
		checked++
		if err := c.answered(e, template, op); err != nil {
			t.Errorf("%s: %s %s: %v", e.at, e.method, template, err)
		}
		if strings.HasPrefix(e.status, "2") && e.service == "memory" {
			if err := c.asked(e, template, op); err != nil && !byHand(e.body) {
				t.Errorf("%s: %s %s: the request: %v\n%s", e.at, e.method, template, err, e.body)
			}
		}
	}
	if checked < 500 {
		t.Errorf("only %d requests of the corpus have an operation", checked)
	}
}

// byHand reports whether a body has a form that the server takes but the document does not offer: one
// entry in place of an array.
func byHand(body string) bool {
	return strings.Contains(body, `"entries":{`) || strings.Contains(body, `"entries": {`)
}

// TestTheDocumentIsJSONSchema compiles all schemas of the document, also those that no request of the
// corpus uses.
func TestTheDocumentIsJSONSchema(t *testing.T) {
	c := newContractCheck(t)
	for name := range c.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		if _, err := c.compiler.Compile("doc.json#" + pointed("components", "schemas", name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// examplesFile holds the examples of the document.
const examplesFile = "../../api/openapi/examples.json"

// exampleBytesMax bounds the request and the answer of an example: /openapi.json is read by people.
const exampleBytesMax = 4 << 10

// TestTheExamplesAreOfTheCorpus compares the examples of the document with the first request of each
// operation that has succeeded, of a store if there is one. Run with -rewrite to record them.
func TestTheExamplesAreOfTheCorpus(t *testing.T) {
	c := newContractCheck(t)
	examples := map[string]openapi.Example{}
	for _, only := range []string{"examples.txt memory", " memory", " filled"} {
		file, service, _ := strings.Cut(only, " ")
		for _, e := range recordings(t) {
			_, op := c.operation(e.method, e.path)
			if op == nil || e.service != service || !strings.HasPrefix(e.at, file) || !strings.HasPrefix(e.status, "2") || byHand(e.body) {
				continue
			}
			id := op["operationId"].(string)
			if _, ok := examples[id]; ok || len(e.body)+len(e.answer) > exampleBytesMax {
				continue
			}
			if err := c.asked(e, pathOf(c, e), op); err != nil {
				continue // the servers that take everything take this too
			}
			example := openapi.Example{}
			if example.Status, _ = strconv.Atoi(e.status); strings.HasSuffix(e.headers["Content-Type"], "json") && e.answer != "" {
				example.Answer = json.RawMessage(strings.TrimSpace(e.answer))
			}
			if e.body != "" && json.Valid([]byte(e.body)) && op["requestBody"] != nil {
				example.Request = json.RawMessage(strings.TrimSpace(e.body))
			}
			examples[id] = example
		}
	}
	got, err := json.MarshalIndent(examples, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *rewrite {
		if err := os.WriteFile(examplesFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(examplesFile); err != nil || !bytes.Equal(want, got) {
		t.Errorf("the examples are not those of the corpus (%v): run with -rewrite twice, since the document holds them", err)
	}
	for path, item := range c.paths {
		for method, op := range item.(map[string]any) {
			if id := op.(map[string]any)["operationId"].(string); examples[id].Status == 0 && id != "get-openapi" {
				t.Errorf("%s %s (%s) has no example: the corpus needs a small request that succeeds", method, path, id)
			}
		}
	}
}

// pathOf returns the path of the document that serves a request.
func pathOf(c *contractCheck, e recorded) string {
	template, _ := c.operation(e.method, e.path)
	return template
}
