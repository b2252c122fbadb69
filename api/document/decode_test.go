package document

import (
	"strings"
	"testing"
)

// An answer does not repeat a request of any size: it names what is wrong, and cuts off the rest.
func TestTheProblemOfALongNameIsShort(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, body := range []string{
		`{"` + long + `":1}`,
		`{"entries":[{"` + long + `":1}]}`,
		`{"metadata":{"` + long + `":1,"` + long + `":2}}`,
	} {
		err := Decode([]byte(body), &struct {
			Entries  Drafts         `json:"entries"`
			Metadata map[string]any `json:"metadata"`
		}{}, "body")
		p := ProblemOf(err)
		if p.Code != "invalid" || len(p.Detail) > detailBytesMax+3 || len(p.Field) > fieldBytesMax+3 || !strings.HasSuffix(p.Field, "é…") {
			t.Errorf("%.40s: %s, a detail of %d bytes, a field of %d: %.60s", body, p.Code, len(p.Detail), len(p.Field), p.Field)
		}
	}
}

func TestBytesThatAreNotBase64AreRefusedAsThat(t *testing.T) {
	for body, says := range map[string]string{
		`{"bytes":"!!"}`: "bytes is not base64: encode its bytes so, with padding",
		`{"bytes":7}`:    "bytes is a number, and should be a string in base64",
	} {
		err := Decode([]byte(body), &struct {
			Bytes []byte `json:"bytes"`
		}{}, "body")
		if p := ProblemOf(err); p.Detail != says {
			t.Errorf("%s: %s", body, p.Detail)
		}
	}
}

func TestAMemberThatOccursTwiceIsRefusedAsThat(t *testing.T) {
	var body CommitBody
	err := Decode([]byte(`{"ops":[],"ops":[]}`), &body, "body")
	if p := ProblemOf(err); p.Code != "invalid" || p.Field != "ops" || !strings.Contains(p.Detail, "ops occurs twice") {
		t.Error(err)
	}
}
