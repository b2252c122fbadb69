//go:build race

package node_test

// raceDetector reports that the race detector is on. It makes a run some eight times slower.
const raceDetector = true
