package recall

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWordsFollowUnicode(t *testing.T) {
	for _, c := range []struct{ text, document, query string }{
		{"", "", ""},
		{" \t…—!", "", ""},
		{"The cats' toys, and the Dog's.", "the cat toy and the dog", "the cat toy and dog"},
		{"It’s RUNNING; he ran, she runs", "it run he ran she run", "it run he ran she"},
		{"naïve CAFÉ", "naïv café", "naïv café"},
		{"cafe\u0301 ﬁne", "café fine", "café fine"},
		{"Straße ΣΊΣΥΦΟΣ", "strass σίσυφοσ", "strass σίσυφοσ"},
		{"snake_case v1.2.3 3.14", "snake case v1.2.3 3.14", "snake case v1.2.3 3.14"},
		{"Привет, мир", "привет мир", "привет мир"},
		{"東京都", "東 京 東京 都 京都", "東京 京都"},
		{"茶", "茶", "茶"},
		{"Go言語 and ｶﾀｶﾅ", "go 言 語 言語 and カ タ カタ カ タカ ナ カナ", "go 言語 and カタ タカ カナ"},
		{"서울에서", "서 울 서울 에 울에 서 에서", "서울 울에 에서"},
		{"👍 ok", "ok", "ok"},
	} {
		if got := strings.Join(documentWords(c.text, new(stems)), " "); got != c.document {
			t.Errorf("%q as a document: %q, want %q", c.text, got, c.document)
		}
		if got := strings.Join(queryWords(c.text), " "); got != c.query {
			t.Errorf("%q as a query: %q, want %q", c.text, got, c.query)
		}
	}
}

func TestALongWordIsTruncated(t *testing.T) {
	for _, long := range []string{strings.Repeat("a", 1000), strings.Repeat("ж", 1000)} {
		got := documentWords(long, new(stems))
		if len(got) != 1 || len(got[0]) > wordBytesMax || !utf8.ValidString(got[0]) {
			t.Errorf("%d bytes became %q", len(long), got)
		}
	}
}

// Any text is found by its own words.
func FuzzATextIsFoundByItsOwnWords(f *testing.F) {
	for _, seed := range []string{"the cats", "東京都 Tower", "a\xffb", "ｶﾞ　x_y", "l'été n'est", "สวัสดี", "\u0301\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document := documentWords(text, new(stems))
		for _, word := range queryWords(text) {
			if !slices.Contains(document, word) {
				t.Fatalf("%q: its word %q is not among %q", text, word, document)
			}
		}
	})
}
