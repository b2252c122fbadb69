package main

import "testing"

// S3 takes 10,000 parts of an object. The parts of a large one are larger, and fewer are in memory at once.
func TestALargeObjectHasLargeParts(t *testing.T) {
	for _, c := range []struct {
		size       int64
		part, most int // 0 means the default of the library
	}{
		{size: 0}, {size: 1 << 30}, {size: 60 << 30},
		{size: 78 << 30, part: 9 << 20, most: 5}, {size: 100 << 30, part: 12 << 20, most: 5}, {size: 1 << 40, part: 117 << 20, most: 1}, {size: 5 << 40, part: 583 << 20, most: 1},
	} {
		o := writerOptions(c.size)
		if o.BufferSize != c.part || o.MaxConcurrency != c.most {
			t.Errorf("an object of %d bytes: parts of %d bytes, %d at once, want %d and %d", c.size, o.BufferSize, o.MaxConcurrency, c.part, c.most)
		}
		if part := max(int64(o.BufferSize), partBytesDefault); c.size*11/10/part >= 10_000 {
			t.Errorf("an object a tenth larger than %d bytes has %d parts", c.size, c.size*11/10/part)
		}
	}
}
