package timer

// Limits of a waker, for tests.
const (
	SignalsMax = scopeSignalsMax
	PageSize   = pageSize
	CatchUpMax = catchUpMax
	SlotWait   = slotWait
)
