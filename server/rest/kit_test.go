package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dormouse/server/rest"
)

// kit is an API over a fake, and helpers to call it.
type kit struct {
	*testing.T
	fake    *fake
	handler http.Handler
	server  *http.Server // once it serves
}

func newKit(t *testing.T) *kit {
	t.Helper()
	return newKitWith(t, rest.Options{Node: "n1"})
}

func newKitWith(t *testing.T, o rest.Options) *kit {
	t.Helper()
	f := newFake()
	handler, err := rest.New(f, f, o)
	if err != nil {
		t.Fatal(err)
	}
	return &kit{T: t, fake: f, handler: handler}
}

// in returns the same kit for a subtest.
func (k *kit) in(t *testing.T) *kit {
	t.Helper()
	return &kit{T: t, fake: k.fake, handler: k.handler}
}

// answer is the answer to a request.
type answer struct {
	*httptest.ResponseRecorder
	t *testing.T
}

// call sends one request; headers are "Name: value".
func (k *kit) call(method, path, body string, headers ...string) answer {
	k.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, reader)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	k.handler.ServeHTTP(w, r)
	return answer{w, k.T}
}

// ok checks the status and returns the body's members.
func (a answer) ok(status int) map[string]any {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("status %d, want %d: %s", a.Code, status, a.Body)
	}
	var members map[string]any
	if a.Body.Len() > 0 {
		if err := json.Unmarshal(a.Body.Bytes(), &members); err != nil {
			a.t.Fatalf("the body is no JSON object: %v: %s", err, a.Body)
		}
	}
	return members
}

// problem checks that the answer is a complete problem with that status and code.
func (a answer) problem(status int, code string) map[string]any {
	a.t.Helper()
	members := a.ok(status)
	if got := a.Header().Get("Content-Type"); got != "application/problem+json" {
		a.t.Fatalf("a problem is %q", got)
	}
	for _, name := range []string{"type", "title", "status", "detail", "code"} {
		if members[name] == nil || members[name] == "" {
			a.t.Fatalf("a problem without %s: %s", name, a.Body)
		}
	}
	if members["code"] != code || members["status"] != float64(status) {
		a.t.Fatalf("code %v, status %v; want %s, %d: %s", members["code"], members["status"], code, status, a.Body)
	}
	return members
}

// want checks members of an answer.
func (a answer) want(members map[string]any, want map[string]any) {
	a.t.Helper()
	for name, value := range want {
		if got := members[name]; got != value {
			a.t.Errorf("%s is %v (%T), want %v: %s", name, got, got, value, a.Body)
		}
	}
}
