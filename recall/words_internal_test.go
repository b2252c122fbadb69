package recall

import (
	"fmt"
	"testing"
)

func TestTheCacheOfStemsIsBounded(t *testing.T) {
	var s stems
	for i := range 3 * stemsMax {
		if word := s.word(fmt.Sprint("w", i)); word != fmt.Sprint("w", i) {
			t.Fatal(word)
		}
		if len(s.known) > stemsMax {
			t.Fatalf("%d stems are cached", len(s.known))
		}
	}
}
