package kv

import "encoding/binary"

// TailMax is the longest tail that is cached, in bytes.
const TailMax = 64 << 10

const (
	// tailMarkBytes is the size of a mark: where an entry ends, and how many bytes the entries up to it
	// count for, 32 bits each.
	tailMarkBytes = 8
	// tailEndBytes is the size of the end of a tail: the incarnation, the first seq, and the number of
	// entries, 64 bits each.
	tailEndBytes = 24
)

// Tail has consecutive entries of one incarnation of a thread, each encoded for an answer. Entries
// never change, so a tail is valid until its thread is deleted. Its memory is one piece: the entries, a
// mark for each of them, and the end.
type Tail struct {
	Incarnation uint64
	From, To    uint64 // the seqs of its entries; To is excluded

	entries, marks []byte
}

// DecodeTail returns the tail in a piece that TailWriter.End has returned, without the key. The tail
// shares its memory.
func DecodeTail(piece []byte) Tail {
	rest, end := piece[:len(piece)-tailEndBytes], piece[len(piece)-tailEndBytes:]
	t := Tail{Incarnation: binary.BigEndian.Uint64(end), From: binary.BigEndian.Uint64(end[8:])}
	count := binary.BigEndian.Uint64(end[16:])
	t.To = t.From + count
	marks := len(rest) - int(count)*tailMarkBytes
	t.entries, t.marks = rest[:marks], rest[marks:]
	return t
}

// mark returns where the first n entries end, and how many bytes they count for.
func (t Tail) mark(n uint64) (end, counted uint32) {
	if n == 0 {
		return 0, 0
	}
	mark := t.marks[(n-1)*tailMarkBytes:]
	return binary.BigEndian.Uint32(mark), binary.BigEndian.Uint32(mark[4:])
}

// Slice returns the encoded entries between two seqs, which the tail must have, and how many bytes they
// count for. The slice shares the tail's memory.
func (t Tail) Slice(from, to uint64) (encoded []byte, counted int) {
	begin, before := t.mark(from - t.From)
	end, all := t.mark(to - t.From)
	return t.entries[begin:end:end], int(all - before)
}

// TailWriter writes a tail. Its memory can be used again.
type TailWriter struct {
	Entries []byte // each call of Mark ends one

	incarnation, from uint64
	counted           uint32
	marks             []byte
}

// Begin begins the tail of an incarnation of a thread at a seq.
func (w *TailWriter) Begin(incarnation, from uint64) {
	*w = TailWriter{Entries: w.Entries[:0], marks: w.marks[:0], incarnation: incarnation, from: from}
}

// Mark ends an entry, which counts for some bytes.
func (w *TailWriter) Mark(counted int) {
	w.counted += uint32(counted)
	w.marks = binary.BigEndian.AppendUint32(w.marks, uint32(len(w.Entries)))
	w.marks = binary.BigEndian.AppendUint32(w.marks, w.counted)
}

// Copy adds the entries of a tail from a seq on.
func (w *TailWriter) Copy(t Tail, from uint64) {
	encoded, _ := t.Slice(from, t.To)
	begin, before := t.mark(from - t.From)
	added, counted := uint32(len(w.Entries)), w.counted
	w.Entries = append(w.Entries, encoded...)
	for n := from - t.From + 1; n <= t.To-t.From; n++ {
		end, all := t.mark(n)
		w.counted = counted + all - before
		w.marks = binary.BigEndian.AppendUint32(w.marks, added+end-begin)
		w.marks = binary.BigEndian.AppendUint32(w.marks, w.counted)
	}
}

// End returns the tail after its thread's key, in one piece of memory that the writer does not use again.
func (w *TailWriter) End(key string) []byte {
	piece := make([]byte, 0, len(key)+len(w.Entries)+len(w.marks)+tailEndBytes)
	piece = append(append(append(piece, key...), w.Entries...), w.marks...)
	piece = binary.BigEndian.AppendUint64(piece, w.incarnation)
	piece = binary.BigEndian.AppendUint64(piece, w.from)
	return binary.BigEndian.AppendUint64(piece, uint64(len(w.marks)/tailMarkBytes))
}
