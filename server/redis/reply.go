package redis

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// replies writes the replies of a connection. Errors of writing stay in the buffered writer: the next
// flush returns them.
type replies struct {
	to    *bufio.Writer
	resp3 bool
}

func newReplies(to io.Writer) *replies {
	return &replies{to: bufio.NewWriterSize(to, lineBytesMax)}
}

// failure is an error reply. Its first word is a code for programs.
type failure string

func (f failure) Error() string { return string(f) }

func failuref(format string, args ...any) failure { return failure(fmt.Sprintf(format, args...)) }

func (w *replies) head(kind byte, n int64) {
	var line [24]byte
	line[0] = kind
	_, _ = w.to.Write(append(strconv.AppendInt(line[:1], n, 10), '\r', '\n'))
}

// array begins a reply of n values.
func (w *replies) array(n int) { w.head('*', int64(n)) }

// mapping begins a reply of n pairs of key and value.
func (w *replies) mapping(n int) {
	if w.resp3 {
		w.head('%', int64(n))
		return
	}
	w.array(2 * n)
}

func (w *replies) null() {
	if w.resp3 {
		_, _ = w.to.WriteString("_\r\n")
		return
	}
	_, _ = w.to.WriteString("$-1\r\n")
}

func (w *replies) bulk(b []byte) {
	w.head('$', int64(len(b)))
	_, _ = w.to.Write(b)
	_, _ = w.to.WriteString("\r\n")
}

// line writes a reply of one line, in which no other line may begin.
func (w *replies) line(kind byte, text string) {
	text = strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, text)
	_ = w.to.WriteByte(kind)
	_, _ = w.to.WriteString(text)
	_, _ = w.to.WriteString("\r\n")
}

// status is a reply such as OK; a string is a bulk.
type status string

const (
	statusOK     status = "OK"
	statusQueued status = "QUEUED"
)

// value writes a reply: nil, an int64, a status, a string, bytes, an error, or a list of those.
func (w *replies) value(v any) {
	switch v := v.(type) {
	case nil:
		w.null()
	case int64:
		w.head(':', v)
	case status:
		w.line('+', string(v))
	case string:
		w.bulk([]byte(v))
	case []byte:
		w.bulk(v)
	case []any:
		w.array(len(v))
		for _, each := range v {
			w.value(each)
		}
	case error:
		w.line('-', failureOf(v).Error())
	default:
		w.line('-', fmt.Sprintf("ERR internal: a reply is a %T", v))
	}
}
