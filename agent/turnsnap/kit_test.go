package turnsnap_test

import (
	"encoding/base64"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// sameJSON reports whether two objects are equal except for the order of members and
// the escaping of strings; nothing and null count as {}.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reduced(t, a) == reduced(t, b)
}

func reduced(t *testing.T, raw []byte) string {
	t.Helper()
	value := jsontext.Value(raw).Clone()
	if len(value) == 0 {
		return "{}"
	}
	if err := value.Format(jsontext.ReorderRawObjects(true)); err != nil {
		t.Fatal(err)
	}
	if string(value) == "null" {
		return "{}"
	}
	return string(value)
}
