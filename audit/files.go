package audit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The files of a log: segments, each named for the seq of its first line, the head, and the lock.
const (
	segmentPrefix = "audit-"
	segmentSuffix = ".jsonl"
	headName      = "head"
	lockName      = "lock"
	seqDigits     = 20
)

func segmentName(first uint64) string {
	return fmt.Sprintf("%s%0*d%s", segmentPrefix, seqDigits, first, segmentSuffix)
}

// segmentOf returns the seq that the name of a segment holds.
func segmentOf(name string) (first uint64, ok bool) {
	digits, found := strings.CutPrefix(name, segmentPrefix)
	if digits, ok = strings.CutSuffix(digits, segmentSuffix); !found || !ok || len(digits) != seqDigits {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil
}

// segments returns the seqs of the segments in a directory, in order.
func segments(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []uint64
	for _, e := range entries {
		if first, ok := segmentOf(e.Name()); ok && e.Type().IsRegular() {
			all = append(all, first)
		}
	}
	slices.Sort(all)
	return all, nil
}

// head names the lines that the log has on disk: all from first to last.
type head struct {
	first, last uint64
	hash        hash // of line last
	key         string
}

// headSize is the size of the head file. One write replaces it, and it is smaller than a sector, so a
// power cut leaves the old one or the new one.
const headSize = 256

// encode returns the contents of the head file. The mac of a head without a key is zeros.
func (h head) encode(key []byte) []byte {
	text := h.text()
	var mac hash
	if key != nil {
		mac = h.mac(key)
	}
	raw := fmt.Appendf(nil, "%s %s", text, mac)
	raw = append(raw, bytes.Repeat([]byte{' '}, headSize-1-len(raw))...)
	return append(raw, '\n')
}

func (h head) text() string {
	key := h.key
	if key == "" {
		key = "-"
	}
	return fmt.Sprintf("dormouse-audit 1 %0*d %0*d %s %s", seqDigits, h.first, seqDigits, h.last, h.hash, key)
}

func (h head) mac(key []byte) hash { return hash{}.next([]byte(h.text())).mac(key) }

// readHead returns the head of a directory. The error is os.ErrNotExist if it has none.
func readHead(dir string) (h head, mac hash, err error) {
	f, err := os.Open(filepath.Join(dir, headName))
	if err != nil {
		return h, mac, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, headSize+1))
	if err != nil {
		return h, mac, fmt.Errorf("read the head: %w", err)
	}
	damaged := fmt.Errorf("the file %s is damaged", headName)
	fields := strings.Fields(string(raw))
	if len(raw) != headSize || len(fields) != 7 {
		return h, mac, damaged
	}
	var sumOK, macOK bool
	h.hash, sumOK = parseHash([]byte(fields[4]))
	mac, macOK = parseHash([]byte(fields[6]))
	first, firstErr := strconv.ParseUint(fields[2], 10, 64)
	last, lastErr := strconv.ParseUint(fields[3], 10, 64)
	h.first, h.last = first, last
	if fields[5] != "-" {
		h.key = fields[5]
	}
	same := strings.HasPrefix(string(raw), h.text()+" "+mac.String()+" ") && strings.TrimRight(string(raw), " \n") == h.text()+" "+mac.String()
	if !sumOK || !macOK || firstErr != nil || lastErr != nil || !same || raw[headSize-1] != '\n' {
		return head{}, mac, damaged
	}
	return h, mac, nil
}
