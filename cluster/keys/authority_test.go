package keys

import (
	"testing"
	"time"
)

// A certificate is replaced before its last third, and when the clock is set back
// before its start.
func TestACertificateIsReplacedInTime(t *testing.T) {
	authority, err := New().Authority()
	if err != nil {
		t.Fatal(err)
	}
	issuer, now := authority.Issuer("n1"), time.Now()
	first, err := issuer.at(now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Duration
		same bool
	}{{certTTL*2/3 - time.Hour, true}, {certTTL*2/3 + time.Hour, false}, {-certSkew - time.Hour, false}} {
		issuer.current = first
		got, err := issuer.at(now.Add(c.at))
		if err != nil {
			t.Fatal(err)
		}
		if (got == first) != c.same {
			t.Errorf("after %v: the same certificate: %v, want %v", c.at, got == first, c.same)
		}
		if left := got.Leaf.NotAfter.Sub(now.Add(c.at)); left < certTTL/4 {
			t.Errorf("after %v: %v left", c.at, left)
		}
	}
}
