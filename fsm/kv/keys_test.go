package kv

import (
	"strings"
	"testing"
)

// These tests are inside the package because keys are not visible outside.

func FuzzKeysKeepTheOrderOfIDsAndComeApart(f *testing.F) {
	f.Add("a", "b", "a", "c", uint64(1), uint64(2))
	f.Add("a", "b", "a!", "b", uint64(1<<63), uint64(255))
	f.Add("", "", "\x01", "\xff", uint64(0), uint64(1<<64-1))
	f.Fuzz(func(t *testing.T, scope1, id1, scope2, id2 string, n1, n2 uint64) {
		if strings.Contains(scope1+id1+scope2+id2, Separator) {
			t.Skip("ids hold no NUL")
		}
		a, b := IDKey(KindThread, scope1, id1), IDKey(KindThread, scope2, id2)
		if want := order(strings.Compare(scope1, scope2), strings.Compare(id1, id2)); strings.Compare(a, b) != want {
			t.Fatalf("%q and %q are in another order than their ids", a, b)
		}
		if kind, scope, id, ok := SplitID(a); !ok || kind != KindThread || scope != scope1 || id != id1 {
			t.Fatalf("%q comes apart as %q, %q, %q", a, kind, scope, id)
		}
		e1, e2 := EntryKey(scope1, id1, n1, n2), EntryKey(scope1, id1, n2, n1)
		if (e1 < e2) != (n1 < n2) {
			t.Fatalf("entries of incarnations %d and %d are out of order", n1, n2)
		}
		prefix := IncarnationKey(KindEntry, scope1, id1, n1)
		if !strings.HasPrefix(e1, prefix) || e1 >= After(prefix) {
			t.Fatalf("%q is outside of %q", e1, prefix)
		}
		if a != b && strings.HasPrefix(EntryKey(scope2, id2, n1, n2), IDKey(KindEntry, scope1, id1)) {
			t.Fatalf("an entry of %q is among those of %q", id2, id1)
		}
		if when, rest, ok := SplitDue(DueWallKey(int64(n1>>1), a)); !ok || when != n1>>1 || rest != a {
			t.Fatalf("a row of the queue comes apart as %d, %q", when, rest)
		}
		if DecodeNumber(EncodeNumber(n1)) != n1 || DecodeNumber([]byte(EncodeNumber(n1))) != n1 {
			t.Fatalf("%d is not read back", n1)
		}
	})
}

func order(first, second int) int {
	if first != 0 {
		return first
	}
	return second
}

func TestEveryKindIsOneByteOfItsOwn(t *testing.T) {
	kinds := append([]string{KindSystem, KindMember, KindRemoved, KindPartition, KindNodeLease, KindPlacementEvent, KindDrained, KindPartitionPin, KindClient, KindAnswers, KindDueTick, KindDueWall, KindDueClaim, KindDueTimer, KindScope, KindFeed, KindToken, KindTokenPrincipal}, ScopedKinds...)
	seen := map[string]bool{"\x00": true}
	for _, kind := range kinds {
		if len(kind) != 1 || seen[kind] {
			t.Fatalf("kind %q is used twice", kind)
		}
		seen[kind] = true
	}
}
