package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// conformanceDir holds the cases that all SDKs run. Its README defines their form.
const conformanceDir = "../../sdk/conformance"

// step is one step of a case.
type step struct {
	Call        string            `json:"call"`
	WaitMS      int               `json:"wait_ms"`
	Params      map[string]any    `json:"params"`
	Query       map[string]any    `json:"query"`
	Body        any               `json:"body"`
	Bytes       *string           `json:"bytes"`
	ContentType string            `json:"content_type"`
	Fence       map[string]any    `json:"fence"`
	Key         string            `json:"key"`
	Expect      any               `json:"expect"`
	ExpectBytes *string           `json:"expect_bytes"`
	Refused     any               `json:"refused"`
	Same        bool              `json:"same"`
	Save        map[string]string `json:"save"`
	WithinMS    int               `json:"within_ms"`
}

// caseRun is a case while it runs.
type caseRun struct {
	k      *kit
	check  *contractCheck
	ops    map[string][2]string // method and path by operation
	scope  string
	saved  map[string]any
	before string // the answer of the step before
}

// TestTheCasesOfTheSDKs runs the conformance cases against a node, and checks each answer against the
// document.
func TestTheCasesOfTheSDKs(t *testing.T) {
	files, err := filepath.Glob(conformanceDir + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	k, check := newRealKit(t), newContractCheck(t)
	ops := map[string][2]string{}
	for path, item := range check.paths {
		for method, op := range item.(map[string]any) {
			ops[op.(map[string]any)["operationId"].(string)] = [2]string{strings.ToUpper(method), path}
		}
	}
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Cases []struct {
				Name  string `json:"name"`
				Steps []step `json:"steps"`
			} `json:"cases"`
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range all.Cases {
			n++
			run := &caseRun{check: check, ops: ops, scope: fmt.Sprintf("case-%d", n), saved: map[string]any{}}
			t.Run(filepath.Base(file)+"/"+c.Name, func(t *testing.T) {
				run.k = k.in(t)
				for i := range c.Steps {
					if err := run.step(&c.Steps[i]); err != nil {
						t.Fatalf("step %d, %s: %v", i, c.Steps[i].Call, err)
					}
				}
			})
		}
	}
}

// step makes the call of a step until it comes out as the step says.
func (r *caseRun) step(s *step) error {
	if s.Call == "" {
		time.Sleep(time.Duration(s.WaitMS) * time.Millisecond)
		return nil
	}
	for until := time.Now().Add(time.Duration(s.WithinMS) * time.Millisecond); ; time.Sleep(50 * time.Millisecond) {
		if err := r.once(s); err == nil || time.Now().After(until) {
			return err
		}
	}
}

func (r *caseRun) once(s *step) error {
	op, ok := r.ops[s.Call]
	if !ok {
		return fmt.Errorf("the document has no such operation")
	}
	path := op[1]
	for name, value := range s.Params {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(r.filled(value))))
	}
	query := url.Values{}
	for name, value := range s.Query {
		switch all := r.filled(value).(type) {
		case []any:
			for _, each := range all {
				query.Add(name, fmt.Sprint(each))
			}
		default:
			query.Set(name, fmt.Sprint(all))
		}
	}
	body, headers := r.content(s)
	at := path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	got := r.k.call(op[0], at, body, headers...)
	e := recorded{method: op[0], path: path, status: fmt.Sprint(got.Code), headers: map[string]string{}, answer: got.Body.String()}
	for name := range got.Header() {
		e.headers[name] = got.Header().Get(name)
	}
	delete(e.headers, "Content-Length")
	if err := r.check.answered(e, op[1], r.check.paths[op[1]].(map[string]any)[strings.ToLower(op[0])].(map[string]any)); err != nil {
		return fmt.Errorf("the answer is not as the document says: %w: %s", err, e.answer)
	}
	return r.judge(s, got)
}

// content returns the body and the headers of a step's request.
func (r *caseRun) content(s *step) (body string, headers []string) {
	headers = []string{"Dormouse-Scope: " + r.scope}
	if s.Key != "" {
		headers = append(headers, "Idempotency-Key: "+r.scope+"/"+s.Key)
	}
	if s.Fence != nil {
		headers = append(headers, fmt.Sprintf(`Dormouse-Fence: claim=%%"%s";epoch=%.0f`, url.PathEscape(s.Fence["claim"].(string)), r.filled(s.Fence["epoch"])))
	}
	if s.Bytes != nil {
		return *s.Bytes, append(headers, "Content-Type: "+s.ContentType)
	}
	if s.Body == nil {
		return "", headers
	}
	raw, err := json.Marshal(r.filled(s.Body))
	if err != nil {
		r.k.Fatal(err)
	}
	return string(raw), headers
}

// judge compares an answer with what the step expects, and keeps what it saves.
func (r *caseRun) judge(s *step, got answer) error {
	text := got.Body.String()
	before := r.before
	r.before = text
	if s.ExpectBytes != nil && (got.Code != 200 || text != *s.ExpectBytes) {
		return fmt.Errorf("status %d, %q", got.Code, text)
	}
	var body any
	if text != "" && strings.HasSuffix(got.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
			return err
		}
	}
	want := s.Expect
	if s.Refused != nil {
		want = s.Refused
	}
	if refused := got.Code >= 400; refused != (s.Refused != nil) {
		return fmt.Errorf("status %d: %s", got.Code, text)
	}
	if want != nil {
		if err := r.match("", want, body); err != nil {
			return fmt.Errorf("%w in %s", err, text)
		}
	}
	if s.Same && text != before {
		return fmt.Errorf("%s is not the answer before, %s", text, before)
	}
	for name, pointer := range s.Save {
		value := body
		for member := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			value = value.(map[string]any)[member]
		}
		r.saved[name] = value
	}
	return nil
}

// match compares a value with what a step expects.
func (r *caseRun) match(at string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		if name, ok := w["$"].(string); ok {
			return r.match(at, r.saved[name], got)
		}
		if least, ok := w["$above"].(float64); ok {
			if n, ok := got.(float64); !ok || n <= least {
				return fmt.Errorf("%s is %v", at, got)
			}
			return nil
		}
		if w["$any"] == true && got != nil {
			return nil
		}
		members, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v", at, got)
		}
		for name, each := range w {
			if err := r.match(at+"/"+name, each, members[name]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		all, ok := got.([]any)
		if !ok || len(all) != len(w) {
			return fmt.Errorf("%s is %v", at, got)
		}
		for i, each := range w {
			if err := r.match(fmt.Sprintf("%s/%d", at, i), each, all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("%s is %v, want %v", at, got, want)
	}
	return nil
}

// filled returns a value with what was saved in place of the names.
func (r *caseRun) filled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if name, ok := v["$"].(string); ok && len(v) == 1 {
			return r.saved[name]
		}
		out := map[string]any{}
		for name, each := range v {
			out[name] = r.filled(each)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = r.filled(out[i])
		}
		return out
	}
	return value
}
