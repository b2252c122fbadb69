package audit

// lose counts records that are not written. The next write tells of them in a gap.
func (l *Log) lose(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Lost += uint64(n)
	l.missing += uint64(n)
}

// tell tells the writer of records that are missing, and returns how many lines the next gap stands for.
func (l *Log) tell() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writer.lost += l.missing
	l.missing = 0
	return l.writer.lost
}
