package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// WriteEDN writes a history in Jepsen's format, one operation a line in order of time,
// so that other tools can judge it:
//
//	{:index :type :invoke|:ok|:fail|:info :process :f :value :time …}
//
// The value of an invocation is [key input], that of a return [key output]. As Jepsen
// requires, a process makes no more calls after an unknown one. Its later calls get a
// new process number.
func WriteEDN(w io.Writer, h *History) error {
	out := ednWriter{buffer: bufio.NewWriter(w), process: newJepsenProcesses(h.Ops)}
	for _, m := range moments(h) {
		switch {
		case m.event != nil:
			out.event(m.event)
		default:
			out.call(m.op, m.returns)
		}
	}
	return errors.Join(out.err, out.buffer.Flush())
}

// moment is one line: the invocation or the return of a call, or an event.
type moment struct {
	at      time.Duration
	op      *Op
	returns bool
	event   *Event
}

func moments(h *History) []moment {
	all := make([]moment, 0, 2*len(h.Ops)+len(h.Events))
	for i := range h.Ops {
		op := &h.Ops[i]
		all = append(all, moment{at: op.Invoke, op: op}, moment{at: op.Return, op: op, returns: true})
	}
	for i := range h.Events {
		all = append(all, moment{at: h.Events[i].At, event: &h.Events[i]})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// jepsenProcesses gives processes a new number after each unknown call.
type jepsenProcesses struct {
	stride int
	of     map[int64]int // :: id of a call → its process number
}

func newJepsenProcesses(ops []Op) jepsenProcesses {
	p := jepsenProcesses{stride: 1, of: make(map[int64]int, len(ops))}
	for i := range ops {
		p.stride = max(p.stride, ops[i].Process+1)
	}
	lost := map[int]int{} // :: process → its unknown calls before this call
	for i := range ops {
		op := &ops[i]
		p.of[op.ID] = op.Process + lost[op.Process]*p.stride
		if op.Outcome == Unknown {
			lost[op.Process]++
		}
	}
	return p
}

type ednWriter struct {
	buffer  *bufio.Writer
	process jepsenProcesses
	index   int
	newest  time.Duration
	err     error
}

// begin writes the members that all lines share.
func (w *ednWriter) begin(kind, process, f string, at time.Duration) {
	if at == Never { // unknown calls are written at the end
		at = w.newest
	}
	w.newest = max(w.newest, at)
	w.print("{:index %d, :type :%s, :process %s, :f %s, :time %d", w.index, kind, process, keyword(f), at.Nanoseconds())
	w.index++
}

func (w *ednWriter) call(op *Op, returns bool) {
	kind, value := "invoke", op.In
	if returns {
		switch op.Outcome {
		case OK:
			kind, value = "ok", op.Out
		case Refused:
			kind = "fail"
		default:
			kind = "info"
		}
	}
	at := op.Invoke
	if returns {
		at = op.Return
	}
	w.begin(kind, strconv.Itoa(w.process.of[op.ID]), op.Call, at)
	w.print(", :workload %s, :value [%s %s]", keyword(op.Workload), quote(op.Key), w.edn(value))
	if returns && op.Outcome != OK {
		w.print(", :error [%s %s]", keyword(op.Code), quote(op.Detail))
	}
	w.node(op.Node)
}

func (w *ednWriter) event(e *Event) {
	w.begin("info", ":nemesis", string(e.Kind), e.At)
	w.print(", :value {:name %s, :step %d, :term %d, :detail %s, :data %s}", quote(e.Name), e.Step, e.Term, quote(e.Detail), w.edn(e.Data))
	w.node(e.Node)
}

// node writes the node, if there is one, and ends the line.
func (w *ednWriter) node(node string) {
	if node != "" {
		w.print(", :node %s", quote(node))
	}
	w.print("}\n")
}

func (w *ednWriter) print(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.buffer, format, args...)
	}
}

// edn converts JSON to EDN: objects to maps with keywords, arrays to vectors.
func (w *ednWriter) edn(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nil"
	}
	var out bytes.Buffer
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if err := ednValue(&out, in); err != nil && w.err == nil {
		w.err = fmt.Errorf("history: %w in %s", err, raw)
	}
	return out.String()
}

func ednValue(out *bytes.Buffer, in *json.Decoder) error {
	token, err := in.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return ednInside(out, in, t)
	case string:
		out.WriteString(quote(t))
	case json.Number:
		out.WriteString(t.String())
	case bool:
		out.WriteString(strconv.FormatBool(t))
	default:
		out.WriteString("nil")
	}
	return nil
}

// ednInside writes the rest of an object or an array after its opening token.
func ednInside(out *bytes.Buffer, in *json.Decoder, open json.Delim) error {
	out.WriteRune(rune(open))
	for first := true; in.More(); first = false {
		if !first {
			out.WriteByte(' ')
		}
		if open == '{' {
			name, err := in.Token()
			if err != nil {
				return err
			}
			out.WriteString(keyword(fmt.Sprint(name)))
			out.WriteByte(' ')
		}
		if err := ednValue(out, in); err != nil {
			return err
		}
	}
	end, err := in.Token()
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, end)
	return err
}

// keyword returns a name as an EDN keyword, or quoted if it cannot be a keyword.
func keyword(name string) string {
	plain := name != "" && (name[0] < '0' || name[0] > '9')
	for _, r := range name {
		plain = plain && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if !plain {
		return quote(name)
	}
	return ":" + name
}

// quote returns a string with JSON's escapes, which EDN has too.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always can be written
	}
	return string(raw)
}
