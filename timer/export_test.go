package timer

// What tests may know of a waker's limits.
const (
	FiresMax   = firesMax
	PageTimers = pageTimers
)
