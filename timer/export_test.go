package timer

// Limits of a waker, for tests.
const (
	SignalsMax    = scopeSignalsMax
	AllSignalsMax = signalsMax + reservedMax
	PageSize      = pageSize
	CatchUpMax    = catchUpMax
	SlotWait      = slotWait
)
