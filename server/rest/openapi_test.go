package rest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	contracts "dormouse/api/document"
	"dormouse/server/rest"
)

var rewrite = flag.Bool("rewrite", false, "write testdata anew")

// contract are the paths of the HTTP contract that are implemented.
var contract = []string{
	"POST /v1/commits", "POST /v1/reads",
	"DELETE /v1/values", "DELETE /v1/checkpoints", "DELETE /v1/threads", "GET /v1/deletions", "GET /v1/deletions/{id}",
	"PUT /v1/values/{key}", "GET /v1/values/{key}", "DELETE /v1/values/{key}", "GET /v1/values",
	"PUT /v1/checkpoints/{key}", "GET /v1/checkpoints/{key}", "PATCH /v1/checkpoints/{key}", "DELETE /v1/checkpoints/{key}",
	"GET /v1/checkpoints", "GET /v1/checkpoints/{key}/history",
	"POST /v1/threads", "GET /v1/threads", "GET /v1/threads/{id}", "DELETE /v1/threads/{id}",
	"POST /v1/threads/{id}/entries", "GET /v1/threads/{id}/entries", "GET /v1/threads/{id}/entries/{entry}", "POST /v1/threads/{id}/bytes", "GET /v1/threads/{id}/entries/{entry}/bytes",
	"GET /v1/threads/{id}/watch", "POST /v1/threads/{id}/compact", "POST /v1/threads/{id}/fork", "GET /v1/threads/{id}/verify",
	"POST /v1/agents/{key}/hibernate", "GET /v1/agents/{key}/thaw", "POST /v1/agents/{key}/fork", "DELETE /v1/agents/{key}",
	"GET /v1/agents/{key}/erasure", "PUT /v1/threads/{id}/ttl", "PUT /v1/sessions/{id}/ttl", "PUT /v1/conversations/{id}/ttl",
	"POST /v1/claims/{name}", "POST /v1/claims/{name}/renew", "POST /v1/claims/{name}/release", "GET /v1/claims/{name}",
	"POST /v1/sessions", "PUT /v1/sessions/{id}", "GET /v1/sessions/{id}", "DELETE /v1/sessions/{id}", "GET /v1/sessions",
	"POST /v1/sessions/{id}/claim", "POST /v1/sessions/{id}/claim_resume", "POST /v1/sessions/{id}/recover",
	"POST /v1/sessions/{id}/checkpoint", "POST /v1/sessions/{id}/commit", "POST /v1/sessions/{id}/renew",
	"POST /v1/sessions/{id}/cancel", "POST /v1/sessions/{id}/fork",
	"GET /v1/sessions/{id}/replay", "GET /v1/reviews", "POST /v1/reviews/{review}/decide",
	"PUT /v1/memory/{agent}/{id}", "POST /v1/memory/{agent}", "GET /v1/memory/{agent}/{id}", "DELETE /v1/memory/{agent}/{id}",
	"GET /v1/memory", "POST /v1/memory/recall",
	"PUT /v1/managers/{manager}", "GET /v1/managers/{manager}", "GET /v1/managers", "GET /v1/managers/{manager}/stats",
	"POST /v1/managers/{manager}/instances/{key}", "GET /v1/managers/{manager}/instances/{key}", "DELETE /v1/managers/{manager}/instances/{key}",
	"POST /v1/managers/{manager}/instances/{key}/attach", "POST /v1/managers/{manager}/instances/{key}/detach",
	"POST /v1/managers/{manager}/instances/{key}/touch", "POST /v1/managers/{manager}/instances/{key}/signals",
	"POST /v1/managers/{manager}/instances/{key}/hibernate",
	"PUT /v1/managers/{manager}/instances/{key}/timers/{timer}", "DELETE /v1/managers/{manager}/instances/{key}/timers/{timer}",
	"POST /v1/pods/{manager}/{key}", "GET /v1/pods/{manager}/{key}/nodes", "POST /v1/pods/{manager}/{key}/nodes/{name}/ensure",
	"POST /v1/pods/{manager}/{key}/reconcile", "POST /v1/pods/{manager}/{key}/mutate",
	"GET /v1/cluster", "POST /v1/cluster/join-tokens", "POST /v1/cluster/leave", "POST /v1/cluster/transfer", "POST /v1/cluster/promote", "POST /v1/cluster/demote", "POST /v1/cluster/drain", "POST /v1/cluster/resume", "PUT /v1/placement/partitions/{partition}", "DELETE /v1/placement/partitions/{partition}", "GET /v1/cluster/backup", "GET /v1/cluster/backups", "POST /v1/cluster/backups", "GET /v1/placement/{manager}/{key}",
	"GET /v1/scopes", "GET /v1/default-policy", "PUT /v1/default-policy", "PUT /v1/scopes/{scope}", "DELETE /v1/scopes/{scope}", "GET /v1/changes",
	"GET /livez", "GET /readyz", "GET /metrics", "GET /openapi.json",
}

// added are paths that the contract does not specify.
var added = []string{
	"PATCH /v1/checkpoints/{key}/cron", "PATCH /v1/managers/{manager}/instances/{key}/cron",
	"GET /v1/placement", "GET /v1/placement/partitions", "GET /v1/cluster/instances", "GET /v1/cluster/history", "GET /v1/cluster/settings", "GET /v1/cluster/audit", "GET /v1/cluster/log", "GET /v1/cluster/slow-calls", "GET /v1/cluster/state-sum", "GET /v1/cluster/profile", "GET /v1/managers/{manager}/watch", "GET /v1/managers/{manager}/instances/{key}/watch",
	"GET /v1/pods/{manager}/{key}", "GET /v1/pods/{manager}/{key}/nodes/{name}", "POST /v1/pods/{manager}/{key}/hibernate", "POST /v1/pods/{manager}/{key}/fork",
	"GET /v1/scopes/{scope}", "GET /v1/claims", "GET /v1/claims/{name}/watch", "GET /v1/reviews/{review}", "DELETE /v1/managers/{manager}",
	"POST /v1/tokens", "GET /v1/tokens", "GET /v1/tokens/{id}", "DELETE /v1/tokens/{id}", "GET /v1/whoami",
	"GET /v1/managers/{manager}/instances/{key}/timers/{timer}", "GET /v1/managers/{manager}/instances/{key}/timers", "GET /v1/managers/{manager}/timers",
}

func document(t *testing.T) (raw []byte, parsed map[string]any) {
	t.Helper()
	k := newKitWith(t, rest.Options{Metrics: http.NotFoundHandler()})
	got := k.call("GET", "/openapi.json", "")
	return got.Body.Bytes(), got.ok(200)
}

func TestTheDocumentHasThePathsOfTheContract(t *testing.T) {
	_, doc := document(t)
	if doc["openapi"] != "3.1.0" {
		t.Errorf("it is OpenAPI %v", doc["openapi"])
	}
	var have []string
	for path, item := range doc["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			have = append(have, strings.ToUpper(method)+" "+path)
		}
	}
	want := slices.Sorted(slices.Values(slices.Concat(contract, added)))
	if slices.Sort(have); !slices.Equal(have, want) {
		t.Errorf("it has\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

// A change of the document is a change of the public contract: review shows it as a change of
// testdata. Run with -rewrite to accept it.
func TestTheDocumentChangesOnlyOnPurpose(t *testing.T) {
	raw, doc := document(t)
	const golden = "testdata/openapi.json"
	indented, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(golden, append(indented, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(indented)+"\n" {
		t.Errorf("the document (%d bytes) is not %s; if that is on purpose, run with -rewrite", len(raw), golden)
	}
}

func TestTheDocumentRefersOnlyToWhatItHas(t *testing.T) {
	raw, doc := document(t)
	components := doc["components"].(map[string]any)
	for rest := string(raw); ; {
		_, after, ok := strings.Cut(rest, `"#/components/`)
		if !ok {
			break
		}
		ref, _, _ := strings.Cut(after, `"`)
		kind, name, _ := strings.Cut(ref, "/")
		if components[kind].(map[string]any)[name] == nil {
			t.Errorf("it refers to %s, which it lacks", ref)
		}
		rest = after
	}
}

// TestEachOperationIsDocumented checks what generators and readers need of every operation.
func TestEachOperationIsDocumented(t *testing.T) {
	_, doc := document(t)
	tags := map[string]bool{}
	for _, tag := range doc["tags"].([]any) {
		tags[tag.(map[string]any)["name"].(string)] = true
	}
	used := map[string]bool{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, each := range item.(map[string]any) {
			op := each.(map[string]any)
			tag := op["tags"].([]any)[0].(string)
			used[tag] = true
			if op["summary"] == nil || op["description"] == nil || op["description"] == "" || !tags[tag] {
				t.Errorf("%s %s needs a summary, a description and a tag that the document has", method, path)
			}
			responses := op["responses"].(map[string]any)
			for _, status := range []string{"400", "503", "default"} {
				if responses[status] == nil {
					t.Errorf("%s %s declares no %s", method, path, status)
				}
			}
		}
	}
	if len(used) != len(tags) {
		t.Errorf("the document has the tags %v and uses %v", tags, used)
	}
}

// TestACodeOfAProblemIsOneOfAll compares the values of the member with the table of codes.
func TestACodeOfAProblemIsOneOfAll(t *testing.T) {
	_, doc := document(t)
	problem := doc["components"].(map[string]any)["schemas"].(map[string]any)["Problem"].(map[string]any)
	var want []any
	for _, each := range contracts.Codes() {
		want = append(want, string(each.Code))
	}
	if got := problem["properties"].(map[string]any)["code"].(map[string]any)["enum"]; !reflect.DeepEqual(got, want) {
		t.Errorf("code is one of %v, want %v", got, want)
	}
}

// TestAnswersAreOpenAndRequestsAreNot fails for an answer that forbids further members, which would
// make clients refuse the answers of newer nodes, and for a request that allows them.
func TestAnswersAreOpenAndRequestsAreNot(t *testing.T) {
	_, doc := document(t)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name, open := range map[string]bool{
		"Committed": true, "Problem": true, "Checkpoint": true, "EntryPage": true, "Turned": true, "SessionRow": true, "Review": true,
		"CommitBody": false, "AppendBody": false, "PutCheckpointOp": false, "GetValueRead": false, "TakeBody": false,
	} {
		closed := schemas[name].(map[string]any)["additionalProperties"] == false
		if closed == open {
			t.Errorf("%s forbids further members: %t", name, closed)
		}
	}
}

// parametersOf returns an operation's parameters, each as location and name.
func parametersOf(op any) []string {
	var names []string
	all, _ := op.(map[string]any)["parameters"].([]any)
	for _, p := range all {
		names = append(names, p.(map[string]any)["in"].(string)+" "+p.(map[string]any)["name"].(string))
	}
	return names
}

func TestNoOperationNamesAParameterTwice(t *testing.T) {
	_, doc := document(t)
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			names := parametersOf(op)
			if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
				t.Errorf("%s %s takes %v", method, path, names)
			}
		}
	}
}

func TestTheDocumentHasWhatEmbeddedTypesBring(t *testing.T) {
	_, doc := document(t)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name, members := range map[string][]string{
		"PutCheckpointOp":   {"op", "key", "state", "thread", "if_revision"},
		"HibernateThreadOp": {"op", "thread", "rev", "from_seq", "entries"},
		"HibernateTail":     {"id", "rev", "from_seq", "entries"},
		"ThawRead":          {"read", "key", "revision", "tail"},
		"ThawedThread":      {"id", "rev", "head", "stats", "entries"},
		"Hibernated":        {"key", "revision", "thread", "journal"},
		"ResultThread":      {"id", "floor", "entries"},
		"ClaimSessionOp":    {"op", "session", "owner_id", "ttl_ms", "request"},
		"CommitSessionOp":   {"op", "session", "lease_id", "status", "error", "snapshots", "reviews"},
		"Session":           {"id", "lease", "conversation", "pending_reviews"},
		"ReleaseClaimOp":    {"op", "claim", "holder", "epoch", "to", "ttl_ms"},
	} {
		for _, member := range members {
			if schemas[name].(map[string]any)["properties"].(map[string]any)[member] == nil {
				t.Errorf("%s has no %s", name, member)
			}
		}
	}
	op := schemas["PutCheckpointOp"].(map[string]any)
	if required := fmt.Sprint(op["required"]); required != "[key op state]" {
		t.Errorf("put_checkpoint requires %s", required)
	}
	thread := op["properties"].(map[string]any)["thread"].(map[string]any)
	if _, nullable := thread["anyOf"]; !nullable {
		t.Errorf("its thread may not be null: %v", thread)
	}
}

func TestTheDocumentIsTheSameEachTime(t *testing.T) {
	first, _ := document(t)
	second, _ := document(t)
	if string(first) != string(second) {
		t.Error("two fronts have two documents")
	}
}

func ExampleNew() {
	store := newFake()
	handler, err := rest.New(store, store, rest.Options{Node: "n1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = rest.Server(handler) // serves a listener, until its Shutdown
	// Output:
}

// TestTheServerRefusesWhatIsOverALimitOfTheDocument sends each parameter one past its limit.
func TestTheServerRefusesWhatIsOverALimitOfTheDocument(t *testing.T) {
	k := newKitWith(t, rest.Options{})
	_, doc := document(t)
	sent := 0
	for template, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			params, _ := op.(map[string]any)["parameters"].([]any)
			for _, each := range params {
				param := each.(map[string]any)
				name, in, over := param["name"].(string), param["in"].(string), overLimit(param["schema"].(map[string]any))
				if over == "" || in == "header" || template == "/v1/changes" || template == "/v1/scopes/{scope}" && in == "query" { // the store in memory does not check these
					continue
				}
				path, query := template, ""
				if in == "path" {
					path = strings.ReplaceAll(path, "{"+name+"}", over)
				} else {
					query = "?" + name + "=" + over
				}
				path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")
				sent++
				if got := k.call(strings.ToUpper(method), path+query, ""); got.Code != 400 && got.Code != 413 && got.Code != 503 { // 503: the node has no instances
					t.Errorf("%s %s with a long %s in the %s: %d %s", method, template, name, in, got.Code, got.Body)
				}
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d parameters have a limit", sent)
	}
}

// overLimit returns a value that is just over the limit of a schema, "" if it has none.
func overLimit(schema map[string]any) string {
	if most, ok := schema["maxLength"].(float64); ok {
		return strings.Repeat("x", int(most)+1)
	}
	if most, ok := schema["maximum"].(float64); ok {
		return strconv.FormatInt(int64(most)+1, 10)
	}
	return ""
}
