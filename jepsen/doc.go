// Package jepsen runs workloads against a real cluster while it injects faults,
// records every call, and judges the record.
//
// A run has these phases. The cluster starts. Processes call it while the faults of a
// plan come and go. All faults are healed, and calls go on until the cluster has
// recovered. Each workload makes its final reads. All nodes are compared once there
// are no more writes. The run ends. Only then the history is read back and judged, so
// the checkers judge exactly what was recorded. An interrupted run heals the cluster,
// cleans up and is judged as far as it got.
package jepsen
