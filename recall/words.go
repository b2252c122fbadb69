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

// Words are taken from a text by Unicode's word boundaries (UAX 29), in normal
// form and without their case. Words in Latin letters lose their English
// endings. Scripts that put no spaces between words, and Korean, which adds
// endings to them, are taken by single characters and by pairs of neighbours.

// wordBytesMax cuts off what is no word: base64, a long URL.
const wordBytesMax = 64

// unspaced are the scripts that are taken by characters.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// documentWords are the words that a text is found by.
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

// queryWords are the words that a query looks for, each once. Of a run of
// characters it looks for the pairs alone: they say more.
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

// splitWords takes a text apart; runs of characters of unspaced scripts are handed
// to cut.
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

// fold is a text in normal form, without its case.
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

// stems remembers the words of the tokens that came last: taking an ending off
// costs more than all the rest.
type stems struct{ known map[string]string }

// stemsMax bounds them, at about 100 bytes each.
const stemsMax = 8192

func (s *stems) word(token string) string {
	if len(token) > wordBytesMax {
		return stem(token)
	}
	word, ok := s.known[token]
	if !ok {
		if s.known == nil || len(s.known) == stemsMax {
			s.known = map[string]string{}
		}
		token = strings.Clone(token) // it is a part of the whole text
		word = stem(token)
		s.known[token] = word
	}
	return word
}

// stem is the word that a token is indexed as; "" where it is none.
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
