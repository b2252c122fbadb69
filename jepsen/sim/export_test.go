package sim

// ShrinkWith is Shrink with other runs than a program's.
var ShrinkWith = shrink
