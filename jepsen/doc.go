// Package jepsen runs workloads against a real cluster while faults come and
// go, writes down every call, and judges what was written.
//
// A run goes through phases: the cluster is made; processes call while the
// faults of a plan come and go; all is healed and calls go on until the
// cluster has recovered; final reads; a look at every node once nobody writes;
// the end. Only then is the history read back and judged, so that what is
// judged is what was written. A run that is interrupted heals, cleans up and
// is judged as far as it got.
package jepsen
