package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/server/rest"
)

// hosted answers calls on instances, and records them.
type hosted struct {
	agent.Instances
	ref    agent.InstanceRef
	attach agent.Attach
	signal agent.Signal
	source agent.InstanceSource
	fails  error
}

func (h *hosted) at(ref agent.InstanceRef) (agent.Instance, error) {
	h.ref = ref
	return agent.Instance{
		InstanceRef: ref, Partition: 7, Node: "n2", Epoch: 9, Status: agent.InstanceAwake, Source: h.source,
		Attachments: 2, Revision: 3, Thread: ref.Checkpoint(), Rev: 4,
	}, h.fails
}

func (h *hosted) Start(_ context.Context, ref agent.InstanceRef, _ agent.StartInstance) (agent.Instance, error) {
	return h.at(ref)
}

func (h *hosted) Lookup(_ context.Context, ref agent.InstanceRef) (agent.Instance, error) {
	return h.at(ref)
}

func (h *hosted) Stop(_ context.Context, ref agent.InstanceRef) error {
	_, err := h.at(ref)
	return err
}

func (h *hosted) Detach(_ context.Context, ref agent.InstanceRef, attachment string) error {
	h.attach.Attachment = attachment
	return h.Stop(context.Background(), ref)
}

func (h *hosted) Touch(_ context.Context, ref agent.InstanceRef, _ string) error {
	return h.Stop(context.Background(), ref)
}

func (h *hosted) Hibernate(_ context.Context, ref agent.InstanceRef) error {
	return h.Stop(context.Background(), ref)
}

func (h *hosted) Attach(_ context.Context, ref agent.InstanceRef, attach agent.Attach) (agent.Attached, error) {
	h.attach = attach
	i, err := h.at(ref)
	return agent.Attached{Instance: i, Attachment: "a1", ExpiresAt: 12}, err
}

func (h *hosted) Signal(_ context.Context, ref agent.InstanceRef, signal agent.Signal) (agent.Reply, error) {
	h.signal = signal
	_, err := h.at(ref)
	return agent.Reply{Node: "n2", Epoch: 9, Rev: 5, Revision: 4, Durable: true, Data: agent.JSON(`{"n":18446744073709551615}`)}, err
}

func (h *hosted) Stats(_ context.Context, scope, manager string) (agent.ManagerStats, error) {
	return agent.ManagerStats{Manager: manager, Nodes: []agent.NodeStats{{Node: "n1", Awake: 3, Keys: []string{scope}}, {Node: "n2", Error: "gone"}}}, h.fails
}

func instances(t *testing.T) (*kit, *hosted) {
	t.Helper()
	h := &hosted{source: agent.SourceFresh}
	return newKitWith(t, rest.Options{Node: "n1", Instances: h}), h
}

const one = "/v1/managers/m%2F1/instances/k"

func TestInstancesAreStartedLookedUpAndStopped(t *testing.T) {
	k, h := instances(t)
	got := k.call("POST", one, `{"initial_state":{"n":1}}`, "Dormouse-Scope: acme")
	members := got.ok(201)
	got.want(members, map[string]any{"manager": "m/1", "key": "k", "node": "n2", "epoch": 9.0, "status": "awake", "source": "fresh", "revision": 3.0})
	if got.Header().Get("Location") != one || h.ref != (agent.InstanceRef{Scope: "acme", Manager: "m/1", Key: "k"}) {
		t.Errorf("location %q, asked for %+v", got.Header().Get("Location"), h.ref)
	}
	h.source = agent.SourceThawed
	k.call("POST", one, "").ok(200)
	found := k.call("GET", one+"?scope=acme", "").ok(200)
	if thread := found["thread"].(map[string]any); thread["rev"] != 4.0 || thread["id"] != "instances/m%2F1/k" {
		t.Errorf("thread %v", thread)
	}
	k.call("DELETE", one, "").ok(204)
	for _, call := range []string{"hibernate", "touch"} {
		k.call("POST", one+"/"+call, "").ok(204)
	}
	h.fails = agent.Errorf(agent.CodeNotFound, "not awake")
	k.call("DELETE", one, "").problem(404, "not_found")
}

func TestAttachmentsAreMadeAndEnded(t *testing.T) {
	k, h := instances(t)
	got := k.call("POST", one+"/attach", `{"attachment":"u1","ttl_ms":5000}`)
	got.want(got.ok(200), map[string]any{"attachment": "a1", "expires_at": 12.0, "attachments": 2.0})
	if h.attach.Attachment != "u1" || h.attach.TTL.Milliseconds() != 5000 {
		t.Errorf("attached %+v", h.attach)
	}
	k.call("POST", one+"/attach", `{"ttl_ms":1}`).problem(400, "invalid")
	k.call("POST", one+"/detach", `{}`).problem(400, "invalid")
	k.call("POST", one+"/detach", `{"attachment":"u2"}`).ok(204)
	if h.attach.Attachment != "u2" {
		t.Errorf("detached %+v", h.attach)
	}
}

// A caller that repeats an attach without an id, because it did not get the answer, has one
// attachment. The keys of other calls, and a name in the body, are other attachments.
func TestAnAttachIsOneUnderItsIdempotencyKey(t *testing.T) {
	k, h := instances(t)
	attached := func(body string, headers ...string) string {
		k.call("POST", one+"/attach", body, headers...).ok(200)
		return h.attach.Attachment
	}
	first := attached(`{}`, "Idempotency-Key: once")
	if err := agent.ValidID("attachment", first); err != nil {
		t.Errorf("the attachment has no valid name: %v", err)
	}
	if again := attached(`{"ttl_ms":5000}`, "Idempotency-Key: once"); again != first {
		t.Errorf("the repeated call attached %q, the first one %q", again, first)
	}
	if other := attached(``, "Idempotency-Key: other"); other == first || other == "" {
		t.Errorf("another key attached %q, the first one %q", other, first)
	}
	if hidden := attached(``, "Idempotency-Key: \u202e"); agent.ValidID("attachment", hidden) != nil {
		t.Errorf("a key with a character that ids may not hold attached %q", hidden)
	}
	if named := attached(`{"attachment":"u1"}`, "Idempotency-Key: once"); named != "u1" {
		t.Errorf("attached %q, not the name in the body", named)
	}
	if free := attached(``); free != "" {
		t.Errorf("without a key the owner was asked for %q", free)
	}
}

func TestASignalIsOneUnderItsIdempotencyKey(t *testing.T) {
	k, h := instances(t)
	got := k.call("POST", one+"/signals", `{"type":"add","data":{"by":1}}`, "Idempotency-Key: once")
	got.want(got.ok(200), map[string]any{"node": "n2", "epoch": 9.0, "rev": 5.0, "revision": 4.0, "durable": true})
	if h.signal.Request.Client != "idem/once" || h.signal.Request.Seq != 1 || string(h.signal.Data) != `{"by":1}` || h.signal.Cast {
		t.Errorf("sent %+v", h.signal)
	}
	k.call("POST", one+"/signals", `{"type":"add","cast":true}`).ok(200)
	if h.signal.Request.Client != "" || !h.signal.Cast {
		t.Errorf("sent %+v", h.signal)
	}
	k.call("POST", one+"/signals", `{"data":{}}`).problem(400, "invalid")
}

// CL-8: "not running", "unavailable" and "unknown" are three answers.
func TestCL8_FailuresOfInstancesStayApart(t *testing.T) {
	k, h := instances(t)
	for code, status := range map[agent.Code]int{
		agent.CodeNotFound: 404, agent.CodeUnavailable: 503, agent.CodeUnknown: 504, agent.CodeOverloaded: 429, agent.CodeThawFailed: 409,
		agent.CodeNotOwner: 503, // between nodes only, but a bug must not reach clients as such
	} {
		h.fails = agent.Errorf(code, "so it is")
		k.call("POST", one+"/signals", `{"type":"x"}`).problem(status, string(code))
	}
	h.fails = context.DeadlineExceeded
	k.call("POST", one+"/signals", `{"type":"x"}`).problem(504, "unknown")
	k.call("GET", one, "").problem(503, "unavailable")
	newKit(t).call("GET", one, "").problem(503, "unavailable")
}

// Headers and parameters that would be ignored are refused: a fence, a condition, an older view.
func TestCallsOnInstancesRefuseWhatTheirOwnerDecides(t *testing.T) {
	k, h := instances(t)
	for call, body := range map[string]string{
		"POST " + one: "", "GET " + one: "", "DELETE " + one: "", "GET /v1/managers/m/stats": "",
		"POST " + one + "/attach": "", "POST " + one + "/touch": "", "POST " + one + "/hibernate": "",
		"POST " + one + "/detach": `{"attachment":"u"}`, "POST " + one + "/signals": `{"type":"x"}`,
	} {
		method, path, _ := strings.Cut(call, " ")
		for field, headers := range map[string][]string{
			"Dormouse-Fence": {`Dormouse-Fence: claim="partition:7";epoch=8`}, "If-Match": {`If-Match: "3"`},
		} {
			if problem := k.call(method, path, body, headers...).problem(400, "invalid"); problem["field"] != field {
				t.Errorf("%s with %s: %v", call, field, problem)
			}
		}
		if method == "GET" {
			k.call(method, path+"?min_index=1", "").problem(400, "invalid")
		}
	}
	if h.ref != (agent.InstanceRef{}) {
		t.Errorf("the owner was asked for %+v", h.ref)
	}
}

func TestTheDocumentTellsWhatCallsOnInstancesTake(t *testing.T) {
	_, doc := document(t)
	const path = "/v1/managers/{manager}/instances/{key}"
	for call, want := range map[string]string{
		"get " + path:               "[path manager path key query scope query stale header Dormouse-Scope header Dormouse-Cluster header Dormouse-Timeout-Ms]",
		"post " + path:              "[path manager path key header Dormouse-Scope header Dormouse-Cluster header Dormouse-Timeout-Ms]",
		"post " + path + "/signals": "[path manager path key header Dormouse-Scope header Dormouse-Cluster header Dormouse-Timeout-Ms header Idempotency-Key]",
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := fmt.Sprint(parametersOf(doc["paths"].(map[string]any)[path].(map[string]any)[method])); got != want {
			t.Errorf("%s takes %s, not %s", call, got, want)
		}
	}
}

func TestStatsNameTheNodes(t *testing.T) {
	k, _ := instances(t)
	k.call("PUT", "/v1/managers/m", `{"handler":{"kind":"document"}}`, "Dormouse-Scope: acme").ok(201)
	nodes := k.call("GET", "/v1/managers/m/stats?scope=acme", "").ok(200)["nodes"].([]any)
	if first := nodes[0].(map[string]any); first["awake"] != 3.0 || first["keys"].([]any)[0] != "acme" {
		t.Errorf("%v", nodes)
	}
	if second := nodes[1].(map[string]any); second["error"] != "gone" {
		t.Errorf("%v", nodes)
	}
	k.call("GET", "/v1/managers/m/stats", "").problem(404, "not_found") // another scope has a manager of that name
}

func TestAllInstancesAreCountedTogether(t *testing.T) {
	k, _ := instances(t)
	got := k.call("GET", "/v1/cluster/instances", "").ok(200)
	if first := got["nodes"].([]any)[0].(map[string]any); got["manager"] != "" || first["awake"] != 3.0 {
		t.Errorf("%v", got)
	}
}

func TestManagersAreKept(t *testing.T) {
	k := newKit(t)
	body := `{"handler":{"kind":"http","url":"https://a.example/h","key":"k1"},"idle_timeout_ms":1000,"durability":"idle","skips_persist":["c"],"metadata":{"n":18446744073709551615}}`
	got := k.call("PUT", "/v1/managers/m", body)
	got.want(got.ok(201), map[string]any{"name": "m", "idle_timeout_ms": 1000.0, "durability": "idle", "storage": "cluster", "mailbox_max": 64.0, "revision": 1.0})
	if got.Header().Get("Location") != "/v1/managers/m" || got.Header().Get("ETag") != `"1"` {
		t.Errorf("%v", got.Header())
	}
	k.call("PUT", "/v1/managers/m", `{"handler":{"kind":"document"}}`, `If-Match: "7"`).problem(409, "revision_mismatch")
	k.call("PUT", "/v1/managers/m", `{"handler":{"kind":"document"}}`, `If-Match: "1"`).ok(200)
	k.call("GET", "/v1/managers/m", "").ok(200)
	if items := k.call("GET", "/v1/managers", "").ok(200)["items"].([]any); len(items) != 1 {
		t.Errorf("%v", items)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"put_manager","name":"o","handler":{"kind":"document"}},{"op":"delete_manager","name":"o"}]}`).ok(200)
	k.call("POST", "/v1/reads", `{"reads":[{"read":"get_manager","name":"m"},{"read":"list_managers"}]}`).ok(200)
	k.call("DELETE", "/v1/managers/m?if_revision=2", "").ok(204)
	k.call("GET", "/v1/managers/m", "").problem(404, "not_found")
	for body, field := range map[string]string{
		`{"handler":{"kind":"http","url":"x"}}`:                              "handler.url",
		`{"handler":{"kind":"document"},"mailbox_max":18446744073709551615}`: "mailbox_max",
		`{"handler":{"kind":"document"},"signal_ttl_ms":99999999999}`:        "signal_ttl_ms",
	} {
		problem := k.call("PUT", "/v1/managers/m", body).problem(400, "invalid")
		if problem["field"] != field {
			t.Errorf("%s: the field at fault is %v", body, problem["field"])
		}
	}
}
