// Package timer applies the ops on timers and recurring jobs, and answers the reads of them. The
// leader fires timers, and acknowledges them by an op.
package timer
