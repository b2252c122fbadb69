package redis

import "strings"

// glob reports whether a text matches a pattern of Redis: "*", "?", "[abc]", "[a-z]", "[^a]", and
// "\" before a character that stands for itself. It takes at most len(pattern) * len(text) steps.
func glob(pattern, text string) bool {
	p, t := 0, 0
	star, from := -1, 0 // where to go on after the last "*", and from where in the text
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, t
			continue
		}
		if size, ok := one(pattern[p:], text[t]); ok {
			p += size
			t++
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, t = star, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// one reports whether the first element of a pattern matches a byte, and returns the element's size.
func one(pattern string, b byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return class(pattern, b)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == b
		}
	}
	return 1, pattern[0] == b
}

// class matches an element such as [a-z]. Without its end, it reaches to the end of the pattern.
func class(pattern string, b byte) (size int, ok bool) {
	i := 1
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			ok = ok || pattern[i] == b
		case i+2 < len(pattern) && pattern[i+1] == '-':
			low, high := min(pattern[i], pattern[i+2]), max(pattern[i], pattern[i+2])
			ok = ok || low <= b && b <= high
			i += 2
		default:
			ok = ok || pattern[i] == b
		}
	}
	return min(i+1, len(pattern)), ok != not
}

// literal returns the beginning that all texts that match a pattern have.
func literal(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return pattern[:i]
	}
	return pattern
}
