package clip_test

import (
	"testing"

	"dormouse/internal/clip"
)

func TestATextIsCutToWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text            string
		most            int
		clipped, marked string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "abc…"},
		{"aéé", 5, "aéé", "aéé"},
		{"aéé", 4, "aé", "aé…"},
		{"é", 1, "", "…"},
		{"a\xffb", 3, "ab", "ab"},
		{"a\xffbc", 3, "ab", "ab…"},
		{"\xc3", 0, "", "…"},
	} {
		if got := clip.Text(c.text, c.most); got != c.clipped {
			t.Errorf("%q, %d: %q", c.text, c.most, got)
		}
		if got := clip.Marked(c.text, c.most); got != c.marked {
			t.Errorf("%q, %d, marked: %q", c.text, c.most, got)
		}
	}
}
