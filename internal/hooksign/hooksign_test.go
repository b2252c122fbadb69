package hooksign_test

import (
	"testing"
	"time"

	"dormouse/internal/hooksign"
)

// The signature of a known body: what receivers compute must not change.
func TestASignatureIsOfTheTimeAndTheBody(t *testing.T) {
	at := time.Unix(1700000000, 0)
	got := hooksign.Sign([]byte("0123456789abcdef"), at, []byte(`{"a":1}`))
	const want = "t=1700000000,v1=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23"
	if got != want {
		t.Fatal(got)
	}
	if got == hooksign.Sign([]byte("0123456789abcdef"), at.Add(time.Second), []byte(`{"a":1}`)) || got == hooksign.Sign([]byte("0123456789abcdef"), at, []byte(`{"a":2}`)) ||
		got == hooksign.Sign([]byte("0123456789abcdeF"), at, []byte(`{"a":1}`)) {
		t.Error("the signature does not depend on the time, the body or the secret")
	}
}
