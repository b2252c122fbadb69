package model

import "slices"

// registerWitness is what a register's calls bear witness of. It tells which
// effects of unknown calls can explain anything.
type registerWitness struct {
	answered int // calls with an answer
	unknown  int // calls without
	at       map[uint64]*incarnationWitness
	orphans  []uint64             // incarnations that no answered call created, in order
	loose    []uint64             // revisions that were told or asked for without an incarnation, in order
	told     []uint64             // those of them that were told: there was something
	contents map[Content]struct{} // contents that were asked for without one
}

// incarnationWitness is what is known of one incarnation.
type incarnationWitness struct {
	top     uint64              // the highest revision that an answer bears witness of
	written map[uint64]struct{} // revisions that answered calls wrote
	read    map[uint64]Content  // :: revision → what was read there
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
	i.top = max(i.top, out.Revision, 1) // it is there, so it was written
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

// serves reports whether it can serve any answer that an unknown call takes r to
// next. It may say yes too often, never no.
func (w *registerWitness) serves(r, next Register) bool {
	switch {
	case r == next || r.Any: // it had no effect
		return false
	case !next.Exists: // then r's incarnation is over
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

// fits reports whether next can be what was seen of an incarnation, or come
// before that.
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

// asked reports whether next, or what other unknown calls can make of it, may be
// what some call asked for or was told without an incarnation.
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

// anyWithin reports whether one of sorted is from low to high.
func anyWithin(sorted []uint64, low, high uint64) bool {
	at, _ := slices.BinarySearch(sorted, low)
	return at < len(sorted) && sorted[at] <= high
}
