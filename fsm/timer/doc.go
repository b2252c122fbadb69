// Package timer applies the ops on timers and recurring jobs, and answers the reads of
// them. It does not fire them: the leader does, and acknowledges it by an op.
package timer
