package client

// another returns an unused number, for seededbug.RetryWithFreshID, or seq if the
// window is full. Programs without the build tag seeded do not contain it.
func (l *requestWindow) another(seq uint64) uint64 {
	fresh, _, ok := l.try()
	if !ok {
		return seq
	}
	l.settle(fresh)
	return fresh
}
