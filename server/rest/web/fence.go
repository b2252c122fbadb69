package web

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"dormouse/agent"
)

// parseFence parses Dormouse-Fence: a structured field (RFC 9651), the member claim, a string or
// display string, with the parameter epoch, an integer.
//
//	claim="session:s1";epoch=7
//	claim=%"f%c3%bcr alle";epoch=7
func parseFence(text string) (agent.Fence, error) {
	rest, ok := strings.CutPrefix(strings.Trim(text, " "), "claim=")
	if !ok {
		return agent.Fence{}, fenceError(text)
	}
	claim, rest, ok := cutString(rest)
	if !ok || claim == "" {
		return agent.Fence{}, fenceError(text)
	}
	rest, ok = strings.CutPrefix(rest, ";")
	if !ok {
		return agent.Fence{}, fenceError(text)
	}
	number, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), "epoch=")
	if !ok {
		return agent.Fence{}, fenceError(text)
	}
	epoch, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return agent.Fence{}, fenceError(text)
	}
	return agent.Fence{Claim: claim, Epoch: epoch}, nil
}

func fenceError(text string) error {
	return agent.Invalid(headerFence, `it is %s, and should be like claim="session:s1";epoch=7`, text)
}

// cutString returns the string or display string at the beginning of text, and the rest.
func cutString(text string) (value, rest string, ok bool) {
	display := strings.HasPrefix(text, "%")
	text, ok = strings.CutPrefix(strings.TrimPrefix(text, "%"), `"`)
	if !ok {
		return "", "", false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			if !display {
				return b.String(), text[i+1:], true
			}
			// PathUnescape, because + is not an escape here.
			decoded, err := url.PathUnescape(b.String())
			return decoded, text[i+1:], err == nil && utf8.ValidString(decoded)
		case c < ' ' || c > '~':
			return "", "", false
		case c == '\\' && !display:
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", "", false
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
