package model

import "slices"

// registerWitness summarizes the answers of a register's calls. It decides which
// effects of unknown calls can explain an answer.
type registerWitness struct {
	answered int // calls with an answer
	unknown  int // calls without an answer
	at       map[uint64]*incarnationWitness
	orphans  []uint64             // incarnations that no answered call created, sorted
	loose    []uint64             // revisions in answers or conditions without an incarnation, sorted
	told     []uint64             // those of loose that are in answers: the register existed
	contents map[Content]struct{} // contents in conditions without an incarnation
}

// incarnationWitness summarizes the answers about one incarnation.
type incarnationWitness struct {
	top     uint64              // the largest revision that an answer shows
	written map[uint64]struct{} // revisions that answered calls wrote
	read    map[uint64]Content  // :: revision → the content read at it
}

func witness(calls []Call) *registerWitness {
	w := &registerWitness{at: map[uint64]*incarnationWitness{}, contents: map[Content]struct{}{}}
	for _, c := range calls {
		call, out := c.In.(*RegisterCall), registerOut(c.Out)
		if call.IfRevision != nil {
			w.loose = append(w.loose, *call.IfRevision)
		}
		if call.IfContent != nil {
			w.contents[*call.IfContent] = struct{}{}
		}
		if out == nil {
			w.unknown++
			continue
		}
		w.answered++
		if out.Refused == RefusedRevision {
			w.loose = append(w.loose, out.Revision)
			w.told = append(w.told, out.Revision)
		}
		if out.Incarnation != 0 {
			w.incarnation(out.Incarnation).answer(call, out)
		}
	}
	for incarnation, i := range w.at {
		if _, created := i.written[1]; !created {
			w.orphans = append(w.orphans, incarnation)
		}
	}
	slices.Sort(w.orphans)
	slices.Sort(w.loose)
	slices.Sort(w.told)
	return w
}

func (w *registerWitness) incarnation(n uint64) *incarnationWitness {
	if w.at[n] == nil {
		w.at[n] = &incarnationWitness{written: map[uint64]struct{}{}, read: map[uint64]Content{}}
	}
	return w.at[n]
}

func (i *incarnationWitness) answer(call *RegisterCall, out *RegisterOut) {
	i.top = max(i.top, out.Revision, 1) // the register exists, so it was written
	switch {
	case out.Refused != "":
	case call.Name == RegisterDelete && call.IfRevision != nil:
		i.top = max(i.top, *call.IfRevision)
	case call.Name == RegisterDelete:
	case call.Name == RegisterGet:
		i.read[out.Revision] = out.Content
	default:
		i.written[out.Revision] = struct{}{}
	}
}

// serves reports whether the effect of an unknown call, which changes r to next, can
// explain an answer. It may return true needlessly, but never false wrongly.
func (w *registerWitness) serves(r, next Register) bool {
	switch {
	case r == next || r.Any: // the call has no effect
		return false
	case !next.Exists: // r's incarnation ends
		i := w.at[r.Incarnation]
		return i == nil || r.Revision >= i.top
	case next.Incarnation != 0:
		return w.fits(next.Incarnation, next) || w.asked(r, next)
	case !r.Exists && anyWithin(w.told, 1, uint64(w.unknown)):
		return true
	case r.Exists && w.asked(r, next):
		return true
	}
	from, _ := slices.BinarySearch(w.orphans, next.Above+1)
	return slices.ContainsFunc(w.orphans[from:], func(n uint64) bool { return w.fits(n, next) })
}

// fits reports whether next is consistent with the answers about an incarnation.
func (w *registerWitness) fits(incarnation uint64, next Register) bool {
	i := w.at[incarnation]
	if i == nil || next.Revision > i.top {
		return false
	}
	if _, taken := i.written[next.Revision]; taken {
		return false
	}
	read, known := i.read[next.Revision]
	return !known || read == next.Content
}

// asked reports whether a condition or an answer without an incarnation may refer to
// next, or to a state that other unknown calls reach from it.
func (w *registerWitness) asked(r, next Register) bool {
	if i := w.at[next.Incarnation]; i != nil {
		if _, taken := i.written[next.Revision]; taken {
			return false
		}
		if read, known := i.read[next.Revision]; known && read != next.Content {
			return false
		}
	}
	_, content := w.contents[next.Content]
	return content || anyWithin(w.loose, next.Revision, r.Revision+uint64(w.unknown))
}

// anyWithin reports whether sorted has a value from low to high.
func anyWithin(sorted []uint64, low, high uint64) bool {
	at, _ := slices.BinarySearch(sorted, low)
	return at < len(sorted) && sorted[at] <= high
}
