package timer

// Limits of a waker, for tests.
const (
	SignalsMax = signalsMax
	PageSize   = pageSize
	CatchUpMax = catchUpMax
)
