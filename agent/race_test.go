//go:build race

package agent_test

// raced reports that the race detector is on. sync.Pool then drops objects at random,
// so counts of allocations are not meaningful.
const raced = true
