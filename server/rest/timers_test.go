package rest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
)

func TestATimerIsSetReadListedAndCancelled(t *testing.T) {
	k := newKit(t)
	const one = "/v1/managers/m/instances/a%2Fb/timers/t"
	body := `{"cron":"0 30 2 * * 1-5","time_zone":"Europe/Paris","missed":"catch_up","catch_up":3,"type":"remind","data":{"n": 18446744073709551615}}`
	got := k.call("PUT", one, body)
	got.want(got.ok(200), map[string]any{"manager": "m", "key": "a/b", "id": "t", "generation": 1.0})
	got = k.call("GET", one, "")
	got.ok(200)
	want := `{"manager":"m","key":"a/b","id":"t","cron":"0 30 2 * * 1-5","time_zone":"Europe/Paris","missed":"catch_up","catch_up":3,` +
		`"type":"remind","data":{"n":18446744073709551615},"generation":1,"created_at":1700000000001,"updated_at":1700000000001}`
	if diff := cmp.Diff(want, strings.TrimSpace(got.Body.String())); diff != "" {
		t.Error(diff)
	}
	got = k.call("PUT", "/v1/managers/m/instances/c/timers/u", `{"at":1800000000000}`)
	got.want(got.ok(200), map[string]any{"next": 1800000000000.0, "missed": "fire_once", "type": "timer"})

	page := k.call("GET", "/v1/managers/m/timers?limit=1", "").ok(200)
	next, _ := page["next"].(string)
	if len(page["items"].([]any)) != 1 || next == "" {
		t.Fatalf("a page is %v", page)
	}
	page = k.call("GET", "/v1/managers/m/timers?limit=1&after="+next, "").ok(200)
	if items := page["items"].([]any); len(items) != 1 || items[0].(map[string]any)["id"] != "u" || page["next"] != nil {
		t.Fatalf("the next page is %v", page)
	}
	if page = k.call("GET", "/v1/managers/m/instances/c/timers?prefix=u", "").ok(200); len(page["items"].([]any)) != 1 {
		t.Fatalf("an instance's are %v", page)
	}
	k.call("DELETE", one, "").ok(204)
	k.call("DELETE", one, "").ok(204)
	k.call("GET", one, "").problem(404, "not_found")
}

func TestABadTimerIsRefusedWithItsField(t *testing.T) {
	k := newKit(t)
	const one = "/v1/managers/m/instances/k/timers/t"
	for _, c := range []struct{ body, field string }{
		{`{}`, "cron"},
		{`{"cron":"61 * * * *"}`, "cron"},
		{`{"cron":"@daily","time_zone":"Mars/Olympus"}`, "time_zone"},
		{`{"cron":"@daily","at":1800000000000}`, "at"},
		{`{"at":-1}`, "at"},
		{`{"at":1800000000000,"missed":"often"}`, "missed"},
	} {
		got := k.call("PUT", one, c.body)
		got.want(got.problem(400, "invalid"), map[string]any{"field": c.field})
	}
	k.call("GET", one, "").problem(404, "not_found")
}

func TestTimersInACommitAndAmongReads(t *testing.T) {
	k := newKit(t)
	k.call("POST", "/v1/commits", `{"ops":[{"op":"put_timer","manager":"m","key":"k","timer":"t","at":1800000000000},
		{"op":"put_timer","manager":"m","key":"k","timer":"u","cron":"@daily"}]}`).ok(200)
	generation := stored[*agent.Timer](k, &agent.GetTimer{Manager: "m", Key: "k", ID: "t"}).Generation
	k.call("POST", "/v1/commits", `{"ops":[{"op":"append_thread","thread":"h","entries":[{}]},
		{"op":"ack_timer","manager":"m","key":"k","timer":"t","generation":9,"instant":1800000000000}]}`).problem(409, "conflict")
	if generation != 1 {
		t.Fatalf("the first generation is %d", generation)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"ack_timer","manager":"m","key":"k","timer":"t","generation":1,"instant":1800000000000}]}`).ok(200)
	got := k.call("POST", "/v1/reads", `{"reads":[{"read":"get_timer","manager":"m","key":"k","timer":"t"},{"read":"list_timers","manager":"m"}]}`).ok(200)
	answers := got["answers"].([]any)
	if answers[0].(map[string]any)["error"] == nil || len(answers[1].(map[string]any)["found"].(map[string]any)["items"].([]any)) != 1 {
		t.Fatalf("answers %v", answers)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"delete_timer","manager":"m","key":"k","timer":"u"}]}`).ok(200)
	k.call("GET", "/v1/managers/m/instances/k/timers/u", "").problem(404, "not_found")
}
