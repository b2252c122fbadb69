package top

import "strings"

// historyMax is how many values a history keeps.
const historyMax = 240

// history is the last values of a rate, oldest first.
type history []float64

// add adds a value, and drops the oldest one of a full history.
func (h *history) add(v float64) {
	if len(*h) == historyMax {
		copy(*h, (*h)[1:])
		*h = (*h)[:historyMax-1]
	}
	*h = append(*h, v)
}

// sparks are the heights of a sparkline.
var sparks = []rune("▁▂▃▄▅▆▇█")

// spark returns the last values as a line of width columns. The greatest of them has the full
// height.
func (h history) spark(width int) string {
	shown := h[max(0, len(h)-width):]
	most := 0.0
	for _, v := range shown {
		most = max(most, v)
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", width-len(shown)))
	for _, v := range shown {
		level := 0
		if most > 0 && v > 0 {
			level = min(len(sparks)-1, int(v/most*float64(len(sparks))))
		}
		b.WriteRune(sparks[level])
	}
	return b.String()
}
