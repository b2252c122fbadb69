package raftlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
)

// The format of a bbolt file (bbolt's internal/common): pages of one size. The first
// two name the root page of the tree of buckets.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	boltPageHead   = 16 // id, flags, count, overflow
	boltMetaBytes  = 64
	boltElemBytes  = 16 // of a leaf and of a branch
	boltBucketHead = 16 // root, sequence

	boltBranch, boltLeaf, boltFreelist = 0x01, 0x02, 0x10

	boltNoFreelist = ^uint64(0)

	boltPageShiftMin, boltPageShiftMax = 10, 24 // the page sizes that bbolt tries
)

// checkBolt reads everything that can be reached in the bbolt file at path, and
// returns an error for damage that bbolt would not survive. It calls value with each
// key and value, and returns its error. A file that is missing or empty is new.
//
// Bbolt follows the pointers in a mapped file without checks, partly in goroutines
// that a caller cannot guard: a damaged file ends the process by a panic or a
// fault, also in bbolt's own check. So checkBolt runs first, reads the file with
// ordinary reads, and checks every pointer.
//
// A crash may tear the newer of the two first pages. Then the older one counts, in
// bbolt as here. checkBolt does not look at pages that nothing refers to.
func checkBolt(path string, value func(bucket, key, value []byte) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	meta, err := readBoltMeta(file)
	if err != nil {
		return err
	}
	if whole := meta.pages * meta.pageBytes; meta.pages > 1<<40 || uint64(info.Size()) < whole {
		return fmt.Errorf("it is truncated: %d bytes of %d are left", info.Size(), whole)
	}
	f := &boltFile{file: file, boltMeta: meta, seen: map[uint64]bool{0: true, 1: true}, value: value}
	if err := f.tree(nil, meta.root, bounds{}); err != nil {
		return err
	}
	return f.checkFreelist()
}

// boltMeta is the content of one of the first two pages.
type boltMeta struct {
	pageBytes             uint64
	root, freelist, pages uint64
	written               uint64 // grows with each transaction
}

// readBoltMeta returns the newer of the two first pages that are intact.
func readBoltMeta(file io.ReaderAt) (newest boltMeta, err error) {
	at := func(offset int64) (m boltMeta, ok bool) {
		raw := make([]byte, boltPageHead+boltMetaBytes)
		if _, err := file.ReadAt(raw, offset); err != nil {
			return m, false
		}
		return parseBoltMeta(raw[boltPageHead:])
	}
	found := false
	take := func(m boltMeta, ok bool) {
		if ok && (!found || m.written > newest.written) {
			newest, found = m, true
		}
	}
	take(at(0))
	for shift := boltPageShiftMin; shift <= boltPageShiftMax; shift++ {
		if m, ok := at(1 << shift); ok && m.pageBytes == 1<<shift {
			take(m, ok)
			break
		}
	}
	if !found {
		return newest, errors.New("neither of its first two pages is intact")
	}
	return newest, nil
}

func parseBoltMeta(raw []byte) (m boltMeta, ok bool) {
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:56]) // never fails
	if u32(raw) != boltMagic || u32(raw[4:]) != boltVersion || u64(raw[56:]) != sum.Sum64() {
		return m, false
	}
	m = boltMeta{pageBytes: uint64(u32(raw[8:])), root: u64(raw[16:]), freelist: u64(raw[32:]), pages: u64(raw[40:]), written: u64(raw[48:])}
	return m, m.pageBytes >= 1<<boltPageShiftMin && m.pageBytes <= 1<<boltPageShiftMax
}

// boltFile is a file during a check.
type boltFile struct {
	boltMeta
	file  io.ReaderAt
	seen  map[uint64]bool // pages that something refers to; each may be referred to once
	value func(bucket, key, value []byte) error
}

// page reads a page and its overflow pages. It returns an error if another page
// refers to one of them.
func (f *boltFile) page(id uint64) (page []byte, flags, count uint16, err error) {
	head := make([]byte, boltPageHead)
	if id >= f.pages {
		return nil, 0, 0, fmt.Errorf("page %d is referred to, of %d pages", id, f.pages)
	}
	if _, err := f.file.ReadAt(head, int64(id*f.pageBytes)); err != nil {
		return nil, 0, 0, fmt.Errorf("read page %d: %w", id, err)
	}
	if own := binary.NativeEndian.Uint64(head); own != id {
		return nil, 0, 0, fmt.Errorf("page %d claims to be page %d", id, own)
	}
	flags, count = binary.NativeEndian.Uint16(head[8:]), binary.NativeEndian.Uint16(head[10:])
	end := id + 1 + uint64(binary.NativeEndian.Uint32(head[12:]))
	if end > f.pages {
		return nil, 0, 0, fmt.Errorf("page %d goes on to page %d, of %d pages", id, end-1, f.pages)
	}
	for part := id; part < end; part++ {
		if f.seen[part] {
			return nil, 0, 0, fmt.Errorf("page %d is referred to twice", part)
		}
		f.seen[part] = true
	}
	page = make([]byte, (end-id)*f.pageBytes)
	if _, err := f.file.ReadAt(page, int64(id*f.pageBytes)); err != nil {
		return nil, 0, 0, fmt.Errorf("read page %d: %w", id, err)
	}
	return page, flags, count, nil
}

// bounds are the keys that a part of a tree may hold: from low up to high, without
// high. nil means no bound.
type bounds struct{ low, high []byte }

func (b bounds) allow(key []byte) error {
	if len(key) == 0 || bytes.Compare(key, b.low) < 0 || b.high != nil && bytes.Compare(key, b.high) >= 0 {
		return fmt.Errorf("key %.40q is out of order", key)
	}
	return nil
}

// tree checks the part of a bucket's tree that begins at a page.
func (f *boltFile) tree(bucket []byte, id uint64, within bounds) error {
	page, flags, count, err := f.page(id)
	if err != nil {
		return err
	}
	switch flags {
	case boltLeaf:
		err = f.leaf(bucket, page, int(count), within)
	case boltBranch:
		err = f.branch(bucket, page, int(count), within)
	default:
		return fmt.Errorf("page %d has flags %#x, which no page of a tree has", id, flags)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// piece returns size bytes of a page, pos bytes after an element.
func piece(page []byte, element, pos, size int) ([]byte, error) {
	if from := element + pos; from+size <= len(page) { // each is below 1<<33
		return page[from : from+size], nil
	}
	return nil, errors.New("it refers to bytes outside of itself")
}

func (f *boltFile) branch(bucket, page []byte, count int, within bounds) error {
	if count == 0 {
		return errors.New("it has no branches")
	}
	keys, pages := make([][]byte, count), make([]uint64, count)
	for i := range count {
		element := boltPageHead + i*boltElemBytes
		raw, err := piece(page, element, 0, boltElemBytes)
		if err != nil {
			return err
		}
		u32 := binary.NativeEndian.Uint32
		if keys[i], err = piece(page, element, int(u32(raw)), int(u32(raw[4:]))); err != nil {
			return err
		}
		pages[i] = binary.NativeEndian.Uint64(raw[8:])
	}
	for i, key := range keys {
		if err := within.allow(key); err != nil {
			return err
		}
		under := bounds{low: key, high: within.high}
		if i+1 < count {
			under.high = keys[i+1]
		}
		if err := f.tree(bucket, pages[i], under); err != nil {
			return err
		}
		within.low = append(bytes.Clone(key), 0)
	}
	return nil
}

func (f *boltFile) leaf(bucket, page []byte, count int, within bounds) error {
	for i := range count {
		element := boltPageHead + i*boltElemBytes
		raw, err := piece(page, element, 0, boltElemBytes)
		if err != nil {
			return err
		}
		u32 := binary.NativeEndian.Uint32
		flags, pos, keyBytes, valueBytes := u32(raw), int(u32(raw[4:])), int(u32(raw[8:])), int(u32(raw[12:]))
		both, err := piece(page, element, pos, keyBytes+valueBytes)
		if err != nil {
			return err
		}
		key, value := both[:keyBytes], both[keyBytes:]
		if err := within.allow(key); err != nil {
			return err
		}
		within.low = append(bytes.Clone(key), 0)
		switch flags {
		case 0:
			err = f.value(bucket, key, value)
		case 1:
			err = f.bucket(key, value)
		default:
			err = fmt.Errorf("%.40q has unknown flags %#x", key, flags)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket: a tree of its own, or one page within the value.
func (f *boltFile) bucket(name, value []byte) error {
	if len(value) < boltBucketHead {
		return fmt.Errorf("bucket %.40q is truncated", name)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return f.tree(name, root, bounds{})
	}
	page := value[boltBucketHead:]
	if len(page) < boltPageHead || binary.NativeEndian.Uint16(page[8:]) != boltLeaf {
		return fmt.Errorf("bucket %.40q is truncated", name)
	}
	return f.leaf(name, page, int(binary.NativeEndian.Uint16(page[10:])), bounds{})
}

// checkFreelist checks that no free page is in use.
func (f *boltFile) checkFreelist() error {
	if f.freelist == boltNoFreelist {
		return nil
	}
	page, flags, count, err := f.page(f.freelist)
	if err != nil {
		return fmt.Errorf("free list: %w", err)
	}
	if flags != boltFreelist {
		return fmt.Errorf("page %d has flags %#x and is no free list", f.freelist, flags)
	}
	ids, n := page[boltPageHead:], uint64(count)
	if count == 0xFFFF { // then the first one is their number
		n, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return fmt.Errorf("the free list has %d pages, more than it has space for", n)
	}
	for i := range n {
		id := binary.NativeEndian.Uint64(ids[8*i:])
		if id >= f.pages || f.seen[id] {
			return fmt.Errorf("page %d is free, and it is in use, free twice or out of range", id)
		}
		f.seen[id] = true
	}
	return nil
}
