package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"dormouse/internal/clip"
)

// A text is split at Unicode word boundaries (UAX 29), after normalization and
// case folding. Words in Latin letters are stemmed as English. Scripts without
// spaces between words, and Korean with its suffixes, are indexed as characters
// and pairs of neighbouring characters.

// wordBytesMax truncates tokens that are not words, such as base64 or long
// URLs.
const wordBytesMax = 64

// unspaced are the scripts that are indexed by characters.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// documentWords returns the words under which a text is indexed.
func documentWords(text string, stems *stems) []string {
	return splitWords(text, stems, func(out []string, run []rune) []string {
		for i, r := range run {
			out = append(out, string(r))
			if i > 0 {
				out = append(out, string(run[i-1:i+1]))
			}
		}
		return out
	})
}

// queryWords returns the distinct words of a query. A run of two or more
// characters of unspaced scripts becomes pairs only, which are more selective.
func queryWords(text string) []string {
	all := splitWords(text, new(stems), func(out []string, run []rune) []string {
		if len(run) == 1 {
			return append(out, string(run))
		}
		for i := range len(run) - 1 {
			out = append(out, string(run[i:i+2]))
		}
		return out
	})
	seen, each := make(map[string]bool, len(all)), all[:0]
	for _, word := range all {
		if !seen[word] {
			seen[word] = true
			each = append(each, word)
		}
	}
	return each
}

// splitWords splits a text into words. It passes runs of characters of unspaced
// scripts to cut.
func splitWords(text string, stems *stems, cut func(out []string, run []rune) []string) []string {
	out := make([]string, 0, len(text)/5)
	var run []rune
	tokens := words.FromString(fold(text))
	for tokens.Next() {
		token := tokens.Value()
		first, _ := utf8.DecodeRuneInString(token)
		if first >= utf8.RuneSelf && unicode.In(first, unspaced...) {
			run = append(run, []rune(token)...)
			continue
		}
		if len(run) > 0 {
			out, run = cut(out, run), run[:0]
		}
		for part := range strings.SplitSeq(token, "_") {
			if word := stems.word(part); word != "" {
				out = append(out, word)
			}
		}
	}
	if len(run) > 0 {
		out = cut(out, run)
	}
	return out
}

// fold returns a text in normal form (NFKC) with its case folded.
func fold(text string) string {
	text = strings.ReplaceAll(text, "’", "'")
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return cases.Fold().String(norm.NFKC.String(text))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// stems caches the stems of recent tokens, because stemming dominates the cost
// of indexing.
type stems struct {
	known map[string]string
	bytes int // approximate size
}

const (
	stemsMax  = 8192 // the maximum number of cached stems
	stemBytes = 72   // of one, in addition to the text
)

func (s *stems) word(token string) string {
	if len(token) > wordBytesMax {
		return stem(token)
	}
	word, ok := s.known[token]
	if !ok {
		if s.known == nil || len(s.known) == stemsMax {
			*s = stems{known: map[string]string{}}
		}
		token = strings.Clone(token) // do not keep the whole text in memory
		word = stem(token)
		s.known[token] = word
		s.bytes += stemBytes + len(token) + len(word)
	}
	return word
}

// stem returns the word that a token is indexed as; "" if it has no letters or
// digits.
func stem(token string) string {
	letters, latin := false, true
	for _, r := range token {
		switch {
		case 'a' <= r && r <= 'z':
			letters = true
		case r == '\'':
		default:
			letters = letters || unicode.IsLetter(r) || unicode.IsNumber(r)
			latin = latin && unicode.Is(unicode.Latin, r)
		}
	}
	switch {
	case !letters:
		return ""
	case len(token) > wordBytesMax:
		return clip.Text(token, wordBytesMax)
	case !latin:
		return token
	}
	env := snowballstem.NewEnv(token)
	english.Stem(env)
	return env.Current()
}
