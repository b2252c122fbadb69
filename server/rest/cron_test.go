package rest_test

import "testing"

func TestJobsOfACheckpoint(t *testing.T) {
	k := newKit(t)
	stamp := k.call("PATCH", "/v1/checkpoints/a/cron", `{"nightly":{"cron_expression":"0 2 * * *","message":{"n":1}}}`).ok(200)
	if stamp["revision"] != 1.0 {
		t.Fatalf("answered %v", stamp)
	}
	k.call("POST", "/v1/commits", `{"ops":[{"op":"patch_cron","key":"a","if_revision":1,"specs":{"nightly":null,"b":{"cron_expression":"@hourly","message":0}}}]}`).ok(200)
	state := k.call("GET", "/v1/checkpoints/a", "").ok(200)["state"].(map[string]any)
	specs := state["__cron_specs__"].(map[string]any)
	if job := specs["b"].(map[string]any); len(specs) != 1 || job["cron_expression"] != "@hourly" || job["timezone"] != "Etc/UTC" || job["message"] != 0.0 {
		t.Fatalf("state %v", state)
	}
	bad := k.call("PATCH", "/v1/checkpoints/a/cron", `{"c":{"cron_expression":"@daily","message":1,"timezone":"Mars/Olympus"}}`).problem(400, "invalid")
	if bad["field"] != "specs.c.timezone" {
		t.Fatalf("the field at fault is %v", bad["field"])
	}
	k.call("PATCH", "/v1/checkpoints/a/cron?if_revision=1", `{"b":null}`).problem(409, "revision_mismatch")
}

func TestAManagerDeclaresJobs(t *testing.T) {
	k := newKit(t)
	got := k.call("PUT", "/v1/managers/m", `{"handler":{"kind":"document"},"schedules":{"tidy":{"cron_expression":"@daily","message":"now"}}}`).ok(201)
	if job := got["schedules"].(map[string]any)["tidy"].(map[string]any); job["message"] != "now" {
		t.Fatalf("answered %v", got)
	}
	if plain := k.call("PUT", "/v1/managers/n", `{"handler":{"kind":"document"}}`).ok(201); plain["schedules"] != nil {
		t.Fatalf("answered %v", plain)
	}
}
