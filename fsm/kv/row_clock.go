package kv

// rowClock holds rows within a bound of memory. A hit touches as little memory as possible,
// because most of a cached row's cost is waiting for memory: the map has a row by the hash of its
// key, key and value are one piece, and a hit moves no row. The row that is dropped is one that
// was not read since the clock's hand was last there. It may not be used concurrently.
type rowClock struct {
	rows  map[uint64]*cachedRow // by the hash of the key. Of two keys with one hash only one is here
	clock []*cachedRow          // the same rows
	hand  int
	bytes int
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
	return &cachedRow{row: joined(key, value), keyBytes: len(key), absent: value == nil, at: at, hash: hash}
}

// joined returns key and value in one piece.
func joined[K string | []byte](key K, value []byte) []byte {
	return append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
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

// find returns the row of a key, nil if it is not here.
func (c *rowClock) find(hash uint64, key string) *cachedRow {
	if r := c.rows[hash]; r != nil && r.is(key) {
		return r
	}
	return nil
}

// add adds a row, in place of one with the same hash, and drops others until at most bytesMax
// bytes are left.
func (c *rowClock) add(r *cachedRow, bytesMax int) {
	if before := c.rows[r.hash]; before != nil {
		c.remove(before)
	}
	c.rows[r.hash] = r
	r.place = len(c.clock)
	c.clock = append(c.clock, r)
	c.bytes += r.bytes()
	c.shrink(bytesMax)
}

// replace replaces the value of a row that is here. Values that were returned before stay as they
// are.
func (c *rowClock) replace(r *cachedRow, value []byte, bytesMax int) {
	c.bytes -= r.bytes()
	r.row, r.absent = joined(r.row[:r.keyBytes], value), value == nil
	c.bytes += r.bytes()
	c.shrink(bytesMax)
}

// shrink drops rows until at most bytesMax bytes are left.
func (c *rowClock) shrink(bytesMax int) {
	for c.bytes > bytesMax {
		c.hand %= len(c.clock)
		if oldest := c.clock[c.hand]; oldest.used {
			oldest.used = false
			c.hand++
		} else {
			c.remove(oldest)
		}
	}
}

// remove removes a row.
func (c *rowClock) remove(r *cachedRow) {
	delete(c.rows, r.hash)
	last := len(c.clock) - 1
	c.clock[r.place] = c.clock[last]
	c.clock[r.place].place = r.place
	c.clock[last] = nil
	c.clock = c.clock[:last]
	c.bytes -= r.bytes()
}

// clear removes all rows.
func (c *rowClock) clear() { *c = rowClock{rows: map[uint64]*cachedRow{}} }
