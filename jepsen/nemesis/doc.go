// Package nemesis does harm to a bed by plan, and undoes it.
//
// A plan is drawn from a seed before the run: which fault comes when, for how
// long, in which variant. Whom a fault meets ("the leader") is resolved when it
// comes, from the step's own seed. Faults of several names run side by side, a
// lane each; within a lane one follows the other.
//
// Every fault has its undo, and everything is healed at the end, whatever
// happened. A host's process is one fault's at a time, so that two lanes do not
// start and stop it across each other; and what a fault destroys on disks is
// never more than a minority's at any one time.
package nemesis
