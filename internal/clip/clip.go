// Package clip bounds texts from other sources: errors, reasons, names. It also removes
// what is not UTF-8, which neither the log nor a message can hold.
package clip

import "strings"

// Text returns the beginning of a text, at most most bytes, in whole characters and
// without invalid UTF-8.
func Text(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Marked is Text, with an ellipsis (beyond most bytes) if it cut something off.
func Marked(text string, most int) string {
	if len(text) <= most {
		return Text(text, most)
	}
	return Text(text, most) + "…"
}
