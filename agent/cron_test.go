package agent

import (
	"errors"
	"testing"
)

// The state machine stops at an error without a code, so CronChanges must return
// invalid.
func TestSpecsThatAreNoObjectAreRefusedNeverAnError(t *testing.T) {
	for _, specs := range []string{``, `null`, `[]`, `{"j":`, `{"j"`, `{`, `{"j":nul`, `{"\ud800":null}`, `{"j":null,`, `{1:2}`} {
		_, err := CronChanges(JSON(specs))
		if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeInvalid || e.Field != "specs" {
			t.Errorf("%s: %v", specs, err)
		}
	}
}
