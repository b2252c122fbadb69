package cron_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/internal/cron"
)

// field is one field of an expression, and what it lets through, said twice.
type field struct {
	text string
	lets []int // nil means all
}

func drawField(t *rapid.T, name string, low, high int) field {
	switch rapid.IntRange(0, 3).Draw(t, name) {
	case 0:
		return field{text: "*"}
	case 1:
		step := rapid.IntRange(2, 7).Draw(t, name+" step")
		f := field{text: fmt.Sprintf("*/%d", step)}
		for n := low; n <= high; n += step {
			f.lets = append(f.lets, n)
		}
		return f
	case 2:
		a := rapid.IntRange(low, high).Draw(t, name+" from")
		b := rapid.IntRange(a, high).Draw(t, name+" to")
		f := field{text: fmt.Sprintf("%d-%d", a, b)}
		for n := a; n <= b; n++ {
			f.lets = append(f.lets, n)
		}
		return f
	default:
		lets := rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 4, rapid.ID[int]).Draw(t, name+" list")
		var words []string
		for _, n := range lets {
			words = append(words, strconv.Itoa(n))
		}
		return field{text: strings.Join(words, ","), lets: lets}
	}
}

func (f field) has(n int) bool { return f.lets == nil || slices.Contains(f.lets, n) }

// Next agrees with walking through every minute of some days, in zones about
// their changes of clock: each local time that is there and that the fields let
// through comes at the last instant that shows it.
func TestNextIsWhatWalkingThroughTheMinutesFinds(t *testing.T) {
	around := []struct {
		zone string
		at   time.Time
	}{
		{"America/New_York", time.Date(2026, 3, 8, 7, 0, 0, 0, time.UTC)},
		{"America/New_York", time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)},
		{"Australia/Lord_Howe", time.Date(2026, 4, 4, 15, 0, 0, 0, time.UTC)},
		{"Australia/Lord_Howe", time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC)},
		{"Europe/Dublin", time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)},
		{"America/Santiago", time.Date(2026, 9, 6, 4, 0, 0, 0, time.UTC)},
		{"Africa/Casablanca", time.Date(2026, 2, 15, 2, 0, 0, 0, time.UTC)},
		{"Pacific/Apia", time.Date(2011, 12, 30, 10, 0, 0, 0, time.UTC)},
		{"UTC", time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)},
	}
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SampledFrom(around).Draw(t, "place")
		minute, hour := drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23)
		day, weekday := drawField(t, "day", 1, 31), drawField(t, "weekday", 0, 6)
		expression := strings.Join([]string{minute.text, hour.text, day.text, "*", weekday.text}, " ")
		zone, err := time.LoadLocation(place.zone)
		if err != nil {
			t.Fatal(err)
		}
		either := day.text != "*" && weekday.text != "*"
		last := map[string]time.Time{} // :: what a clock shows → the last instant
		first, end := place.at.Add(-36*time.Hour), place.at.Add(36*time.Hour)
		for at := first.Add(-30 * time.Hour); at.Before(end.Add(30 * time.Hour)); at = at.Add(time.Minute) {
			shown := at.In(zone)
			date := day.has(shown.Day()) && weekday.has(int(shown.Weekday()))
			if either {
				date = day.has(shown.Day()) || weekday.has(int(shown.Weekday()))
			}
			if date && minute.has(shown.Minute()) && hour.has(shown.Hour()) {
				last[shown.Format("2006-01-02 15:04")] = at
			}
		}
		var want []string
		for _, at := range last {
			if at.After(first) && at.Before(end) {
				want = append(want, at.Format(time.RFC3339))
			}
		}
		slices.Sort(want)
		s, err := cron.Parse(expression, place.zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at := s.Next(first); !at.IsZero() && at.Before(end); at = s.Next(at) {
			got = append(got, at.Format(time.RFC3339))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q in %s (-walked +next):\n%s", expression, place.zone, diff)
		}
	})
}

// Whatever is parsed ends, and comes later each time.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"* * * * *", "@daily", "0 0 29 2 *", "*/7 1-5,9 L * MON#2", "0 0 0 1 1 ? 2026-2030/2", "15W 1 1 1 1", "5/15 22-2 * * FRI-MON"} {
		f.Add(seed, "America/New_York", int64(1772953200))
	}
	f.Fuzz(func(t *testing.T, expression, zone string, from int64) {
		s, err := cron.Parse(expression, zone)
		if err != nil {
			return
		}
		at := time.Unix(from%(1<<33), 0)
		for range 4 {
			next := s.Next(at)
			if next.IsZero() {
				return
			}
			if !next.After(at) {
				t.Fatalf("%q in %q: after %v comes %v", expression, zone, at, next)
			}
			at = next
		}
	})
}
