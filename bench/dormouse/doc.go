// Package dormouse drives Dormouse for the load generator, through the Go
// client or over HTTP.
package dormouse

// scope is where all of it goes.
const scope = "bench"
