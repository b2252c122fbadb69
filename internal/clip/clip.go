// Package clip bounds texts that come from elsewhere: errors, reasons, names.
// Neither the log nor the wire can be told what is no UTF-8.
package clip

import "strings"

// Text is as much of the beginning of a text as fits into most bytes, in whole
// characters. What is no UTF-8 in it is left out.
func Text(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Marked is Text with an ellipsis, past most, where something was cut off.
func Marked(text string, most int) string {
	if len(text) <= most {
		return Text(text, most)
	}
	return Text(text, most) + "…"
}
