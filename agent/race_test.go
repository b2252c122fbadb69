//go:build race

package agent_test

// raced says that the race detector is on, under which pools let go of things
// at random, so that counts of allocations mean nothing.
const raced = true
