package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dormouse/internal/cron"
)

func parse(tb testing.TB, expression, zone string) *cron.Schedule {
	tb.Helper()
	s, err := cron.Parse(expression, zone)
	if err != nil {
		tb.Fatalf("%q in %q: %v", expression, zone, err)
	}
	return s
}

// comes lists the first instants after a moment, as RFC 3339 in UTC.
func comes(t *testing.T, expression, zone, after string, n int) string {
	t.Helper()
	s := parse(t, expression, zone)
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for range n {
		at = s.Next(at)
		out = append(out, at.UTC().Format(time.RFC3339))
	}
	return strings.Join(out, " ")
}

func TestExpressionsComeWhenTheySay(t *testing.T) {
	for _, c := range []struct{ name, expression, zone, after, want string }{
		{"five fields", "30 9 * * 1-5", "", "2026-11-20T09:30:00Z", "2026-11-23T09:30:00Z 2026-11-24T09:30:00Z"},
		{"six fields have seconds first", "*/20 0 * * * *", "", "2026-11-20T09:00:20Z", "2026-11-20T09:00:40Z 2026-11-20T10:00:00Z"},
		{"seven fields have the year last", "0 0 12 1 1 * 2027-2028", "", "2026-11-20T00:00:00Z", "2027-01-01T12:00:00Z 2028-01-01T12:00:00Z"},
		{"yearly", "@yearly", "", "2026-11-20T00:00:00Z", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
		{"annually", "@annually", "", "2026-11-20T00:00:00Z", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
		{"monthly", "@monthly", "", "2026-11-20T00:00:00Z", "2026-12-01T00:00:00Z 2027-01-01T00:00:00Z"},
		{"weekly", "@weekly", "", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z 2026-11-29T00:00:00Z"},
		{"daily", "@daily", "", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z 2026-11-22T00:00:00Z"},
		{"midnight, in capitals", "@MIDNIGHT", "", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z 2026-11-22T00:00:00Z"},
		{"hourly", "@hourly", "", "2026-11-20T00:00:00.001Z", "2026-11-20T01:00:00Z 2026-11-20T02:00:00Z"},
		{"names", "0 0 1 jan,JUL *", "", "2026-11-20T00:00:00Z", "2027-01-01T00:00:00Z 2027-07-01T00:00:00Z"},
		{"seven is Sunday", "0 0 * * 7", "", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z 2026-11-29T00:00:00Z"},
		{"both days named: either", "0 0 1 * 0", "", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z 2026-12-01T00:00:00Z"},
		{"the last day of the month", "0 0 L * ?", "", "2027-01-31T12:00:00Z", "2027-02-28T00:00:00Z 2027-03-31T00:00:00Z"},
		{"leap days", "0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z 2108-02-29T00:00:00Z"},
		{"after an occurrence, the one after it", "0 12 * * *", "", "2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z 2026-11-22T12:00:00Z"},
		{"a zone with half hours", "0 9 * * *", "Asia/Kolkata", "2026-11-20T00:00:00Z", "2026-11-20T03:30:00Z 2026-11-21T03:30:00Z"},

		// C-10. New York goes forward on 2026-03-08 at 02:00, and back on 2026-11-01 at 02:00.
		{"C-10 a skipped time is passed over", "30 2 * * *", "America/New_York", "2026-03-07T00:00:00Z", "2026-03-07T07:30:00Z 2026-03-09T06:30:00Z"},
		{"C-10 the skipped hour of many", "0 * * * *", "America/New_York", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z 2026-03-08T08:00:00Z"},
		{"C-10 a time that comes twice comes once, the later time", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T06:30:00Z 2026-11-02T06:30:00Z"},
		{"C-10 asked between the two", "30 1 * * *", "America/New_York", "2026-11-01T05:45:00Z", "2026-11-01T06:30:00Z 2026-11-02T06:30:00Z"},
		{"C-10 asked between the two, of a local time before", "15 1 * * *", "America/New_York", "2026-11-01T05:45:00Z", "2026-11-01T06:15:00Z 2026-11-02T06:15:00Z"},
		{"C-10 the hour that comes twice of many", "0 * * * *", "America/New_York", "2026-11-01T04:00:00Z", "2026-11-01T06:00:00Z 2026-11-01T07:00:00Z"},
		{"C-10 half an hour back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T15:15:00Z 2026-04-05T15:15:00Z"},
		{"C-10 midnight skipped", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-07T03:00:00Z 2026-09-08T03:00:00Z"},
		{"C-10 a whole day skipped", "0 12 30 * *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-01-29T22:00:00Z 2012-03-29T22:00:00Z"},
		{"C-10 a whole day skipped, second by second", "* * * * * *", "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-30T10:00:00Z 2011-12-30T10:00:01Z"},
		{"C-10 winter time that is summer time's negative", "30 1 * * *", "Europe/Dublin", "2026-10-24T12:00:00Z", "2026-10-25T01:30:00Z 2026-10-26T01:30:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := comes(t, c.expression, c.zone, c.after, 2); got != c.want {
				t.Errorf("%q in %q after %s:\n got %s\nwant %s", c.expression, c.zone, c.after, got, c.want)
			}
		})
	}
}

func TestWhatComesNoMoreIsTheZeroTime(t *testing.T) {
	s := parse(t, "0 0 0 1 1 * 2020", "")
	if got := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); !got.IsZero() {
		t.Errorf("a year that has passed comes at %v", got)
	}
	if got := parse(t, "@yearly", "").Next(time.Date(cron.YearMax, 6, 1, 0, 0, 0, 0, time.UTC)); !got.IsZero() {
		t.Errorf("past the last year it comes at %v", got)
	}
}

func TestBadPlansAreRefusedWithTheirField(t *testing.T) {
	for _, c := range []struct{ name, expression, zone, field, says string }{
		{"empty", "", "", "cron", "0 fields"},
		{"too few fields", "* * * *", "", "cron", "4 fields"},
		{"too many fields", "* * * * * * * *", "", "cron", "8 fields"},
		{"no such macro", "@every 1h", "", "cron", "no macro"},
		{"reboot", "@reboot", "", "cron", "no macro"},
		{"a minute out of range", "60 * * * *", "", "cron", "60"},
		{"an hour out of range", "0 24 * * *", "", "cron", "24"},
		{"no day", "0 0 0 * *", "", "cron", "0"},
		{"no month", "0 0 1 13 *", "", "cron", "13"},
		{"no weekday", "0 0 * * 8", "", "cron", "8"},
		{"a step of nothing", "*/0 * * * *", "", "cron", "step"},
		{"words", "a b c d e", "", "cron", ""},
		{"a list with a hole", "1,,2 * * * *", "", "cron", "nothing"},
		{"a lone comma", ", * * * * *", "", "cron", "nothing"},
		{"a zone before it", "TZ=UTC * * * * *", "", "cron", "TZ=UTC"},
		{"a day that never comes", "0 0 31 2 *", "", "cron", "never"},
		{"a hash", "H * * * *", "", "cron", ""},
		{"years without end", "0 0 0 1 1 * 1-2147483647", "", "cron", "no year"},
		{"a year too late", "0 0 0 1 1 * 2200", "", "cron", "no year"},
		{"NUL", "* * * * \x00", "", "cron", ""},
		{"as long as may be, and one more", strings.Repeat("*", cron.ExpressionBytesMax+1), "", "cron", "bytes"},
		{"no such zone", "@daily", "Mars/Olympus", "time_zone", "no time zone"},
		{"the node's own zone", "@daily", "Local", "time_zone", "name a zone"},
		{"a path", "@daily", "../../etc/passwd", "time_zone", "no time zone"},
		{"a long zone", "@daily", strings.Repeat("a", cron.ZoneBytesMax+1), "time_zone", "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cron.Parse(c.expression, c.zone)
			var refused *cron.Error
			if !errors.As(err, &refused) || refused.Field != c.field || !strings.Contains(refused.Detail, c.says) {
				t.Errorf("got %v, want field %q and a detail with %q", err, c.field, c.says)
			}
		})
	}
}
