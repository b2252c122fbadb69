//go:build race

package fsm_test

import "flag"

// Under the race detector a model's test costs ten times as much, and finds no more races than a
// few draws do.
func init() {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
