package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// gzipWriters are writers at the fastest level: JSON shrinks to a fifth at any level.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// gzipped returns body as gzip; nil if that fails.
func gzipped(body []byte) []byte {
	var out bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(&out)
	if _, err := z.Write(body); err != nil || z.Close() != nil {
		return nil // a buffer takes all
	}
	return out.Bytes()
}

// zstdWindow bounds the window of a body in zstd, and with it what a decoder holds in memory. RFC 8878
// recommends that all decoders take it.
const zstdWindow = 8 << 20

// zstdCoder encodes answers and decodes requests in zstd. Each API has its own, because a channel that is
// made in a testing/synctest bubble can be used in that bubble only.
type zstdCoder struct {
	encoder  func() *zstd.Encoder      // of all answers
	decoders func() chan *zstd.Decoder // of requests, at most one for each core: a window is large, and decoding waits for nothing
}

// newZstdCoder returns a coder that makes its encoder and its decoders when they are first used.
func newZstdCoder() *zstdCoder {
	return &zstdCoder{encoder: sync.OnceValue(newZstdEncoder), decoders: sync.OnceValue(newZstdDecoders)}
}

func newZstdEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are valid
	}
	return e
}

func newZstdDecoders() chan *zstd.Decoder {
	all := make(chan *zstd.Decoder, runtime.GOMAXPROCS(0))
	for range cap(all) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			panic(err) // the options are valid
		}
		all <- d
	}
	return all
}

// receiveCoded reads a body in a content coding, of at most limit bytes without it. The bytes that
// arrive have the same limit.
func (c *Request) receiveCoded(arriving io.Reader, coding string, limit int64) ([]byte, error) {
	if coding == codingGzip {
		z, err := gzip.NewReader(arriving)
		if err != nil {
			return nil, fmt.Errorf("not gzip, as its Content-Encoding says: %w", err)
		}
		return c.receive(http.MaxBytesReader(c.Writer, io.NopCloser(z), limit), limit)
	}
	small, err := c.receive(arriving, limit) // whole, so that no decoder waits for the network
	if err != nil {
		return nil, err
	}
	decoders := c.API.zstd.decoders()
	d := <-decoders
	defer func() { decoders <- d }()
	if err := d.Reset(bytes.NewReader(small)); err != nil {
		return nil, fmt.Errorf("not zstd, as its Content-Encoding says: %w", err)
	}
	defer d.Reset(nil) //nolint:errcheck // it forgets the body
	return c.receive(http.MaxBytesReader(c.Writer, io.NopCloser(d), limit), limit)
}
