package sim

// ShrinkWith is Shrink with other runs than a program's.
var ShrinkWith = shrink

// RunWithin runs a command within a bound of memory.
var RunWithin = runWithin
