// Package nemesis injects faults into a testbed by a plan, and heals them.
//
// A plan is drawn from a seed before the run: which fault starts when, for how long,
// in which variant. The nodes that a fault affects ("the leader") are chosen when it
// starts, from the step's own seed. Each fault name of the plan has its own lane.
// Lanes run in parallel; within a lane the steps follow each other.
//
// Every fault has its undo, and everything is healed at the end, also after errors.
// Only one fault at a time controls a host's process, so that two lanes do not
// interfere. Faults that destroy data never affect more than a minority of the disks
// at any one time.
package nemesis
