package rest_test

import (
	"testing"
)

func TestAValueIsItsBytesAndItsType(t *testing.T) {
	k := newKit(t)
	bytes := "\x00\xff<b>\r\n{"
	got := k.call("PUT", "/v1/values/k?ttl_ms=5000&if_revision=0", bytes, "Content-Type: text/html; charset=x")
	got.want(got.ok(201), map[string]any{"key": "k", "revision": 1.0})
	got = k.call("GET", "/v1/values/k", "")
	if got.Code != 200 || got.Body.String() != bytes || got.Header().Get("Content-Type") != "text/html; charset=x" || got.Header().Get("ETag") != `"1"` {
		t.Errorf("%d %q %v", got.Code, got.Body, got.Header())
	}
	if got.Header().Get("Content-Security-Policy") == "" || got.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a value can be a page of this origin: %v", got.Header())
	}
	k.call("PUT", "/v1/values/k?if_revision=0", "x").problem(409, "revision_mismatch")
	k.call("PUT", "/v1/values/k", "x", `If-Match: "1"`).ok(200)
	k.call("PUT", "/v1/values/empty", "").ok(201)
	got = k.call("GET", "/v1/values/empty", "")
	if got.Code != 200 || got.Body.Len() != 0 || got.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d %q %v", got.Code, got.Body, got.Header())
	}
	rows := k.call("GET", "/v1/values?prefix=k", "").ok(200)["items"].([]any)
	if row := rows[0].(map[string]any); len(rows) != 1 || row["key"] != "k" || row["bytes"] != 1.0 || row["revision"] != 2.0 {
		t.Errorf("the list is %v", rows)
	}
	k.call("DELETE", "/v1/values/k?if_revision=2", "").ok(204)
	k.call("GET", "/v1/values/k", "").problem(404, "not_found")
	k.call("GET", "/v1/values/%2F", "").problem(404, "not_found")
	k.call("PUT", "/v1/values/k?ttl_ms=99999999999999", "x").problem(400, "invalid")
}
