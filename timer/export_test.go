package timer

// What tests may know of a waker's limits.
const (
	SignalsMax = signalsMax
	PageSize   = pageSize
)
