package kv

import "dormouse/storage"

// absentMin is how many keys without a row must follow each other for a walk to remember them as a span.
const absentMin = 32

// walk visits the keys of a range at which the entry sees rows, in order.
type walk struct {
	overlay *Overlay
	upper   string
	ours    changedKeys
	theirs  *storage.Cursor
	more    bool // theirs is at a row
}

// walk begins a walk; close it.
func (o *Overlay) walk(lower, upper string) (walk, error) {
	cursor, err := o.engine.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return walk{}, &EngineError{err}
	}
	w := walk{overlay: o, upper: upper, ours: o.order.within(o.rows, lower, upper), theirs: cursor}
	w.more = cursor.Next()
	return w, nil
}

// next returns the next key; ok is false if there is none.
func (w *walk) next() (key string, ok bool) {
	first, passed := "", 0
	for {
		key, place := w.least()
		if key == "" {
			w.remember(first, w.upper, passed)
			return "", false
		}
		w.overlay.visited++
		end, absent := w.overlay.absent.end(key)
		switch {
		case absent:
			w.seek(end)
		case place < 0 || w.overlay.present(place):
			w.remember(first, key, passed)
			w.step(key)
			return key, true
		default:
			w.step(key)
		}
		if passed == 0 {
			first = key
		}
		passed++
	}
}

// least returns the next key of either side, and the place of its change; a negative place means that the entry has
// not changed it.
func (w *walk) least() (key string, place int) {
	key, place = w.ours.key()
	if w.more && (key == "" || string(w.theirs.Key()) < key) {
		return string(w.theirs.Key()), -1
	}
	return key, place
}

// step moves both sides past a key, which is the least.
func (w *walk) step(key string) {
	if w.more && string(w.theirs.Key()) == key {
		w.more = w.theirs.Next()
	}
	w.ours.step(key)
}

// seek moves both sides to a key.
func (w *walk) seek(key string) {
	w.more = w.more && w.theirs.Seek([]byte(key))
	w.ours.seek(key)
}

// remember adds a span that the walk has passed, if it has many keys.
func (w *walk) remember(first, end string, passed int) {
	if passed >= absentMin && first < end {
		w.overlay.absent.add(span{first, end})
	}
}

func (w *walk) close() error {
	if err := w.theirs.Close(); err != nil {
		return &EngineError{err}
	}
	return nil
}
