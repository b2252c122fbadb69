package report

import "dormouse/jepsen/check"

// Bar is a required result of several runs, and the actual one. The verdict is unknown if nothing
// was measured, or more runs may reach it.
type Bar struct {
	Bar     string        `json:"bar"`
	Wanted  string        `json:"wanted"`
	Is      string        `json:"is"`
	Verdict check.Verdict `json:"verdict"`
}
