package kv

import "sync"

// readCacheShard holds some of the rows of a ReadCache. A hit touches as little memory as
// possible, because most of a cached row's cost is waiting for memory: the map has a row by the
// hash of its key, key and value are one piece, and a hit moves no row. The row that is dropped
// is one that was not read since the clock's hand was last there.
type readCacheShard struct {
	mu    sync.Mutex
	rows  map[uint64]*cachedRow // guarded by mu; by the hash of the key. Of two keys with one hash only one is here
	clock []*cachedRow          // guarded by mu; the same rows
	hand  int                   // guarded by mu
	bytes int                   // guarded by mu
}

// cachedRow is a row, or its absence, and an entry at or after its last change.
type cachedRow struct {
	row      []byte // key and value
	keyBytes int
	absent   bool
	used     bool // since the hand was here
	at       uint64
	hash     uint64
	place    int // in clock
}

func newCachedRow(hash uint64, key string, value []byte, at uint64) *cachedRow {
	row := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return &cachedRow{row: row, keyBytes: len(key), absent: value == nil, at: at, hash: hash}
}

func (r *cachedRow) is(key string) bool { return string(r.row[:r.keyBytes]) == key }

// value returns the value; nil if the row is absent.
func (r *cachedRow) value() []byte {
	if r.absent {
		return nil
	}
	return r.row[r.keyBytes:len(r.row):len(r.row)]
}

func (r *cachedRow) bytes() int { return len(r.row) + rowOverhead }

// find returns the row of a key, nil if it is not here. mu is held.
func (s *readCacheShard) find(hash uint64, key string) *cachedRow {
	if r := s.rows[hash]; r != nil && r.is(key) {
		return r
	}
	return nil
}

// add adds a row, in place of one with the same hash, and drops others until at most bytesMax
// bytes are left. mu is held.
func (s *readCacheShard) add(r *cachedRow, bytesMax int) {
	if before := s.rows[r.hash]; before != nil {
		s.remove(before)
	}
	s.rows[r.hash] = r
	r.place = len(s.clock)
	s.clock = append(s.clock, r)
	s.bytes += r.bytes()
	for s.bytes > bytesMax {
		s.hand %= len(s.clock)
		if oldest := s.clock[s.hand]; oldest.used {
			oldest.used = false
			s.hand++
		} else {
			s.remove(oldest)
		}
	}
}

// remove removes a row. mu is held.
func (s *readCacheShard) remove(r *cachedRow) {
	delete(s.rows, r.hash)
	last := len(s.clock) - 1
	s.clock[r.place] = s.clock[last]
	s.clock[r.place].place = r.place
	s.clock[last] = nil
	s.clock = s.clock[:last]
	s.bytes -= r.bytes()
}

// clear removes all rows. mu is held.
func (s *readCacheShard) clear() {
	s.rows, s.clock, s.hand, s.bytes = map[uint64]*cachedRow{}, nil, 0, 0
}
