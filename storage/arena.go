package storage

// arenaChunk is the size of an arena's pieces of memory.
const arenaChunk = 16 << 10

// arena holds copies of values that are read together, with one allocation for many. The zero value
// is empty.
type arena struct{ free []byte }

// copyOf returns a copy of value, which may not be appended to in place.
func (a *arena) copyOf(value []byte) []byte {
	if len(value) > arenaChunk/4 {
		return append(make([]byte, 0, len(value)), value...)
	}
	if len(value) > cap(a.free)-len(a.free) {
		a.free = make([]byte, 0, arenaChunk)
	}
	n := len(a.free)
	a.free = append(a.free, value...)
	return a.free[n:len(a.free):len(a.free)]
}
