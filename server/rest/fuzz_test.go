package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"dormouse/server/rest"
)

// checkAnswer checks properties of the answer to any body: it is a success or a complete problem
// that is not internal, and it is JSON.
func checkAnswer(t *testing.T, call, body string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code >= 500 || w.Code < 200 || w.Code >= 300 && w.Code < 400 {
		t.Fatalf("%s of %q is %d %s", call, body, w.Code, w.Body)
	}
	if w.Code == 204 {
		return
	}
	if !jsontext.Value(w.Body.Bytes()).IsValid() {
		t.Fatalf("%s of %q answers no JSON: %q", call, body, w.Body)
	}
	if w.Code < 300 {
		return
	}
	var p struct {
		Code   string
		Status int
		Detail string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code == "" || p.Status != w.Code || p.Detail == "" ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%s of %q is no problem: %d %s %v", call, body, w.Code, w.Body, err)
	}
}

func FuzzCommitBody(f *testing.F) {
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `{"ops":[]}`, `{"ops":null}`, `{"ops":[null]}`, `{"ops":[{"op":"put_value","key":"v","bytes":"AA=="}]}`,
		`{"ops":[{"op":"append_thread","thread":"t","entries":[{"payload":` + awkward + `}]}]}`,
		`{"ops":[{"op":"append_thread","thread":"t","entries":{"at":-1,"refs":null}}],"fence":{"claim":"c","epoch":1}}`,
		`{"ops":[{"op":"put_checkpoint","key":"c","state":{"a":{"a":1,"a":2}},"thread":{"id":"t","rev":1}}]}`,
		`{"ops":[{"op":"patch_checkpoint","key":"c","patch":{"x":null}},{"op":"compact_thread","thread":"t","before_seq":1}]}`,
		`{"ops":[{"op":"hibernate_thread","thread":"t","from_seq":18446744073709551615,"entries":[{},{}]}]}`,
		`{"ops":[{"op":"fork_thread","thread":"t","id":"u","at_rev":1.0}]}`, `{"ops":[{"op":"delete_scope"}]}`,
		`{"ops":[{"op":"take_claim","claim":"c","holder":"h"},{"op":"renew_claim","claim":"c","epoch":1}],"fence":{"claim":"c","epoch":65536}}`,
		`{"ops":[{"op":"write_memory","agent_id":"a","content":"x","tags":[" "],"embedding":[1e39],"observed_at":-1}]}`,
		`{"content":"x","data":` + awkward + `,"embedding":[0.5,-2e-9],"ttl_ms":1}`,
		`{"agent_id":"a","mode":"hybrid","query":"x","embedding":[1],"since":1,"until":0,"order":"asc"}`,
		`{"ops":[{"op":"put_session","session":"s","agent_id":"a"},{"op":"claim_session","session":"s","owner_id":"w","request":{"id":"r","input":` + awkward + `}}]}`,
		`{"agent_id":"a","result":` + awkward + `,"conversation":{"agent_state":null},"if_revision":0}`,
		`{"owner_id":"w","request":{"id":"r","input":null},"ttl_ms":1000}`, `{"decision":"edit","by":"a","arguments":` + awkward + `}`,
		`{"lease_id":"l","session":{"status":"error","error":"\ud800","snapshots":[{"id":"n","cursor":{"phase":"wait"}}]},"reviews":[{"ttl_ms":1}]}`,
		`{"holder":"h","ttl_ms":1000}`, `{"holder":"h","epoch":65536,"to":"i"}`,
		"{\"ops\":[{\"op\":\"delete_value\",\"key\":\"\xff\"}]}", `{"reads":[{"read":"thaw","key":"a","tail":1}]}`,
		`{"ops":` + strings.Repeat("[", 200), `{"state":{"a":"\ud800"}}`, `{"entries":{"id":"a"},"expected_rev":0}`,
	} {
		f.Add(body)
	}
	calls := []string{
		"POST /v1/commits", "POST /v1/reads", "PUT /v1/checkpoints/c", "PATCH /v1/checkpoints/c", "POST /v1/threads/t/entries",
		"POST /v1/agents/c/hibernate", "POST /v1/claims/c", "POST /v1/claims/c/release",
		"PUT /v1/sessions/s", "POST /v1/sessions/s/claim", "POST /v1/sessions/s/commit", "POST /v1/reviews/q/decide",
		"PUT /v1/memory/a/m", "POST /v1/memory/recall",
	}
	store := newFake()
	handler, err := rest.New(store, store, rest.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		store.empty()
		for _, call := range calls {
			method, path, _ := strings.Cut(call, " ")
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			checkAnswer(t, call, body, w)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add(`claim="session:s1";epoch=7`, `"7"`, "key", "100", "a%2Fb", "limit=3")
	f.Add(`claim=%"a%c3%bc";epoch=7`, `*`, "\x00", "x", "%00", "scope=a;b")
	f.Add(`claim="\`, `W/"7"`, "\xff", "0", "%2f", "%zz")
	store := newFake()
	handler, err := rest.New(store, store, rest.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, fence, match, key, timeout, id, query string) {
		r := httptest.NewRequest("DELETE", "/v1/checkpoints/x", nil)
		r.URL.RawPath = "/v1/checkpoints/" + id
		path, err := url.PathUnescape(id)
		if err != nil {
			return
		}
		r.URL.Path = "/v1/checkpoints/" + path
		r.URL.RawQuery = query
		for name, value := range map[string]string{"Dormouse-Fence": fence, "If-Match": match, "Idempotency-Key": key, "Dormouse-Timeout-Ms": timeout} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code == 504 || w.Code == 405 {
			return // a timeout of 1 ms, or the path of another call
		}
		checkAnswer(t, "DELETE", r.URL.String(), w)
	})
}
