// Package dormouse implements the drivers of the load generator for Dormouse: through
// the Go client and over HTTP.
package dormouse

// scope is the scope of all agents of a benchmark.
const scope = "bench"
