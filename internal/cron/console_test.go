package cron_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/internal/cron"
)

// The console computes occurrences by itself. Its suite compares them with this file.
func TestTheConsoleComparesWithWhatThisPackageComputes(t *testing.T) {
	raw, err := os.ReadFile("../../ui/test/cron.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Expression string  `json:"expression"`
		Zone       string  `json:"zone"`
		After      int64   `json:"after"`
		Next       []int64 `json:"next"`
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 400 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		s, err := cron.Parse(row.Expression, row.Zone)
		if err != nil {
			t.Fatal(err)
		}
		var next []int64
		for at := s.Next(time.Unix(row.After, 0)); !at.IsZero() && len(next) < 5; at = s.Next(at) {
			next = append(next, at.Unix())
		}
		if !slices.Equal(next, row.Next) {
			t.Errorf("%s in %q after %d: %v, the file has %v", row.Expression, row.Zone, row.After, next, row.Next)
		}
	}
}
