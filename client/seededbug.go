package client

// another is a number that no request had, for seededbug.RetryWithFreshID; seq
// where the window is full. It is not in a program without the build tag seeded.
func (l *ledger) another(seq uint64) uint64 {
	fresh, _, ok := l.try()
	if !ok {
		return seq
	}
	l.settle(fresh)
	return fresh
}
