package fsm

const (
	SweepMax = sweepMax
)
