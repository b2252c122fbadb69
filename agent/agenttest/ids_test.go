package agenttest_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"dormouse/agent/agenttest"
	"dormouse/instance/pod/podtest"
)

// Each id of docs/semantics.md has a case, here or in podtest, or the package comment
// says why it has none.
func TestEveryConformanceIDIsProvedOrExcused(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	proved, seen := map[string]bool{}, map[string]bool{}
	for _, c := range agenttest.Cases() {
		id, _, _ := strings.Cut(c.Name, "_")
		proved[id] = true
		if seen[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		seen[c.Name] = true
	}
	for _, c := range agenttest.InstanceCases() {
		for _, id := range regexp.MustCompile(`\b(M|CL|C)-\d+`).FindAllString(strings.ReplaceAll(c.Name, "_", " "), -1) {
			proved[id] = true
		}
		if seen[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		seen[c.Name] = true
	}
	for _, name := range podtest.Names() {
		id, _, _ := strings.Cut(name, " ")
		proved[id] = true
	}
	for letter, last := range map[string]int{
		"S": 30, "R": 10, "P": 17, "M": 21, "PD": 15, "T": 7, "C": 14, "JS": 11, "JL": 12, "ME": 13, "SG": 10, "CL": 12, "V": 4,
	} {
		for n := 1; n <= last; n++ {
			id := fmt.Sprintf("%s-%d", letter, n)
			excused := regexp.MustCompile(`(?m)^//   - [^:]*\b` + id + `\b[^:]*:`).Match(comment)
			if proved[id] == excused {
				t.Errorf("%s: proved %v, excused %v", id, proved[id], excused)
			}
		}
	}
}
