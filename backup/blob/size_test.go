package blob_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"dormouse/backup/blob"
)

// sizes is a store that keeps the sizes that it was told.
type sizes struct {
	blob.Store
	told []int64
}

func (s *sizes) Put(_ context.Context, _ string, _ io.Reader, size int64) error {
	s.told = append(s.told, size)
	return nil
}

// A node tells dormblob about how large an object is. One of an earlier version tells nothing.
func TestTheSizeOfAnObjectReachesTheStore(t *testing.T) {
	s, out := &sizes{}, new(bytes.Buffer)
	const end = "\x00\x00\x00\x00"
	in := strings.NewReader(`{"op":"put","name":"a","size":107374182400}` + "\n" + end + `{"op":"put","name":"b"}` + "\n" + end)
	if err := blob.Serve(t.Context(), s, nil, in, out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.told, []int64{100 << 30, 0}) || out.String() != "{\"protocol\":1}\n{}\n{}\n" {
		t.Errorf("the sizes are %d, and the answers %s", s.told, out)
	}
}
