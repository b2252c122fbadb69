// Command dashboards prints the queries of a Grafana dashboard as recording rules, so that promtool can
// check them. The dashboard's variables are replaced by values.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// variables are values for the variables of the dashboard.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", "dormouse")

func main() {
	if len(os.Args) != 2 {
		fail("give the path of one dashboard")
	}
	raw, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		fail(err)
	}
	fmt.Println("groups:\n  - name: queries\n    rules:")
	count := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			count++
			fmt.Printf("      - record: query_%d\n        expr: %q\n", count, variables.Replace(target.Expr))
		}
	}
	if count == 0 {
		fail("the dashboard has no queries")
	}
}

func fail(why any) {
	fmt.Fprintln(os.Stderr, "dashboards:", why)
	os.Exit(1)
}
