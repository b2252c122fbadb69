package recall

import (
	"math"
	"slices"
	"strings"
)

// Doc is a memory in an index, without its words and its vector.
type Doc struct {
	ID         string
	Order      uint64 // of its write among the agent's writes, from 1
	Session    string
	Class      string
	Kind       string
	Tags       []string
	ObservedAt int64
	ExpiresAt  int64
}

// Index holds one agent's memories. Searches may run concurrently. Put and
// Remove need exclusive access.
type Index struct {
	docs    []slot
	slots   map[string]uint32 // :: id → index in docs
	words   map[string][]posting
	vectors []float32 // each of dims elements and length 1
	dims    int
	live    int // existing docs; the other slots are dead
	length  int // words of the live docs
	bytes   int
	stems   stems
}

// slot holds one doc. A removed doc leaves a dead slot.
type slot struct {
	Doc
	length int32 // words
	vector int32 // index among the vectors; -1 if it has none
	dead   bool
}

type posting struct{ slot, count uint32 }

// Approximate upper bounds of the index's memory, in addition to the text.
const (
	docBytes     = 240
	tagBytes     = 24
	wordBytes    = 96
	postingBytes = 12
)

// NewIndex makes an empty index.
func NewIndex() *Index {
	return &Index{slots: map[string]uint32{}, words: map[string][]posting{}}
}

// bytes returns the approximate size of a doc without its words and its vector.
func (d *Doc) bytes() int {
	size := docBytes + len(d.ID) + len(d.Session) + len(d.Class) + len(d.Kind)
	for _, tag := range d.Tags {
		size += tagBytes + len(tag)
	}
	return size
}

// Len returns the number of memories.
func (x *Index) Len() int { return x.live }

// Bytes returns the approximate size of the index.
func (x *Index) Bytes() int { return x.bytes + x.stems.bytes }

// Put adds a memory, or replaces the one with its id. All vectors of an index
// have the same length; a memory may have none. A vector of another length removes
// the vectors that the index has.
func (x *Index) Put(d Doc, text string, vector []float32) {
	x.Remove(d.ID, math.MaxUint64)
	if x.deadSlots() > compactAfter && x.deadSlots() > x.live {
		x.compact()
	}
	at := uint32(len(x.docs))
	all := documentWords(text, &x.stems)
	s := slot{Doc: d, length: int32(len(all)), vector: -1}
	if len(vector) > 0 {
		if len(vector) != x.dims {
			x.dropVectors()
			x.dims = len(vector)
		}
		s.vector = int32(len(x.vectors) / x.dims)
		x.vectors = append(x.vectors, unit(vector)...)
		x.bytes += 4 * len(vector)
	}
	x.docs = append(x.docs, s)
	x.slots[d.ID] = at
	x.live++
	x.length += len(all)
	x.bytes += s.bytes()
	for _, word := range all {
		x.addPosting(word, at)
	}
}

// addPosting counts a word of the newest doc.
func (x *Index) addPosting(word string, at uint32) {
	list, known := x.words[word]
	if n := len(list); n > 0 && list[n-1].slot == at {
		list[n-1].count++
		return
	}
	if !known {
		word = strings.Clone(word) // do not keep the whole text in memory
		x.bytes += wordBytes + len(word)
	}
	x.words[word] = append(list, posting{slot: at, count: 1})
	x.bytes += postingBytes
}

// Remove removes a memory if its order is below before.
func (x *Index) Remove(id string, before uint64) {
	at, ok := x.slots[id]
	if !ok || x.docs[at].Order >= before {
		return
	}
	s := &x.docs[at]
	s.dead = true
	s.Doc = Doc{}
	delete(x.slots, id)
	x.live--
	x.length -= int(s.length)
}

// dropVectors removes all vectors. The state machine takes a vector of another length only if no
// memory has one, so those that are left belong to dead slots, or to docs that are about to be put again.
func (x *Index) dropVectors() {
	x.bytes -= 4 * len(x.vectors)
	x.vectors = nil
	for i := range x.docs {
		x.docs[i].vector = -1
	}
}

func (x *Index) deadSlots() int { return len(x.docs) - x.live }

// compactAfter is the minimum number of dead slots for a compaction.
const compactAfter = 256

// compact frees the memory of dead slots. Maps never shrink, so it makes new ones.
func (x *Index) compact() {
	places := make([]uint32, len(x.docs)) // :: old slot → new slot
	docs := make([]slot, 0, x.live)
	vectors := make([]float32, 0, x.live*x.dims)
	slots := make(map[string]uint32, x.live)
	x.bytes, x.stems = 0, stems{}
	for i, s := range x.docs {
		if s.dead {
			continue
		}
		places[i] = uint32(len(docs))
		if s.vector >= 0 {
			old := int(s.vector) * x.dims
			s.vector = int32(len(vectors) / x.dims)
			vectors = append(vectors, x.vectors[old:old+x.dims]...)
		}
		slots[s.ID] = places[i]
		x.bytes += s.bytes()
		docs = append(docs, s)
	}
	words := map[string][]posting{}
	for word, list := range x.words {
		kept := list[:0]
		for _, p := range list {
			if !x.docs[p.slot].dead {
				kept = append(kept, posting{slot: places[p.slot], count: p.count})
			}
		}
		if len(kept) > 0 {
			words[word] = slices.Clone(kept)
			x.bytes += wordBytes + len(word) + postingBytes*len(kept)
		}
	}
	if len(vectors) == 0 {
		x.dims = 0
	}
	x.docs, x.slots, x.words, x.vectors = docs, slots, words, vectors
	x.bytes += 4 * len(vectors)
}
