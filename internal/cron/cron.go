// Package cron tells when a cron expression comes next in a time zone.
//
// The expression names local times; a zone makes instants of them. A local time
// that the zone skips, as when clocks go forward, is passed over. One that it
// has twice, as when they go back, comes once, at the later instant (docs/semantics.md
// §6, C-10). All is a function of its arguments and the zone database. Go takes
// that from where $ZONEINFO says, then from the machine's own files; what is
// linked in is the last resort, of a machine that has neither. So nodes may know
// zones of different age: what the leader reckons is what the log keeps.
package cron

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a machine without zone files has these

	"github.com/netresearch/go-cron"
)

// Limits of what is parsed.
const (
	ExpressionBytesMax = 256
	ZoneBytesMax       = 64
	YearMin            = 1970 // of the year field
	YearMax            = 2199 // …and the last in which anything comes
)

// Error says which of the two is wrong, and how.
type Error struct {
	Field  string // cron or time_zone
	Detail string
}

func (e *Error) Error() string { return e.Field + ": " + e.Detail }

// Schedule is a parsed expression in its zone. It may be used concurrently.
type Schedule struct {
	spec cron.Schedule // asked in UTC only: it then knows nothing of zones
	zone *time.Location
}

// macros are the expressions that have a name.
var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// fields are what an expression may consist of, by the number of its fields.
// Where neither day is *, either will do, as in crontab(5).
var fields = map[int]cron.ParseOption{
	5: cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Extended | cron.DowOrDom,
	6: cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Extended | cron.DowOrDom,
	7: cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Year | cron.Extended | cron.DowOrDom,
}

// Parse reads an expression of five fields (minute, hour, day of the month,
// month, day of the week), of six (seconds first), of seven (the year last), or
// a macro such as @daily; zone is an IANA name, "" means UTC. Errors are *Error.
// An expression that never comes is one.
func Parse(expression, zone string) (*Schedule, error) {
	location, err := loadZone(zone)
	if err != nil {
		return nil, err
	}
	text := expression
	if strings.HasPrefix(text, "@") {
		if text = macros[strings.ToLower(text)]; text == "" {
			return nil, wrong("cron", "%.32q is no macro: use @yearly, @monthly, @weekly, @daily, @midnight or @hourly", expression)
		}
	}
	options, err := check(text)
	if err != nil {
		return nil, err
	}
	parser, err := cron.TryNewParser(options)
	if err != nil {
		return nil, wrong("cron", "%v", err)
	}
	spec, err := parser.WithMaxSearchYears(YearMax - YearMin + 1).Parse(text)
	if err != nil {
		return nil, wrong("cron", "%q: %v", expression, err)
	}
	s := &Schedule{spec: spec, zone: location}
	if s.Next(time.Unix(0, 0)).IsZero() {
		return nil, wrong("cron", "%q never comes: no day is like that", expression)
	}
	return s, nil
}

func wrong(field, format string, args ...any) *Error {
	return &Error{Field: field, Detail: fmt.Sprintf(format, args...)}
}

func loadZone(name string) (*time.Location, error) {
	switch {
	case name == "":
		return time.UTC, nil
	case len(name) > ZoneBytesMax:
		return nil, wrong("time_zone", "a zone's name has at most %d bytes, not %d", ZoneBytesMax, len(name))
	case name == "Local":
		return nil, wrong("time_zone", "name a zone, such as Europe/Paris: nodes may be in several")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, wrong("time_zone", "%q is no time zone: use an IANA name, such as Europe/Paris", name)
	}
	return zone, nil
}

// check keeps out what the parser takes and we do not: lists with nothing
// between two commas, zones, and years that would fill the memory.
func check(text string) (cron.ParseOption, error) {
	if len(text) > ExpressionBytesMax {
		return 0, wrong("cron", "an expression has at most %d bytes, not %d", ExpressionBytesMax, len(text))
	}
	parts := strings.Fields(text)
	options, ok := fields[len(parts)]
	if !ok {
		return 0, wrong("cron", "%q has %d fields: give 5, 6 (seconds first) or 7 (and the year last), or a macro such as @daily", text, len(parts))
	}
	for _, part := range parts {
		if strings.ContainsFunc(part, foreign) {
			return 0, wrong("cron", "%q holds what is in no field: use digits, names and * ? , - / # L W", part)
		}
		for item := range strings.SplitSeq(part, ",") {
			if item == "" {
				return 0, wrong("cron", "%q has nothing where a value should be", part)
			}
		}
	}
	if len(parts) == 7 {
		return options, checkYear(parts[6])
	}
	return options, nil
}

func foreign(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("*?,-/#", r)
}

// checkYear lets four digits through, ranges of them, and steps.
func checkYear(field string) error {
	if field == "*" || field == "?" {
		return nil
	}
	for item := range strings.SplitSeq(field, ",") {
		years, _, _ := strings.Cut(item, "/")
		for year := range strings.SplitSeq(years, "-") {
			if len(year) != 4 || year < fmt.Sprint(YearMin) || year > fmt.Sprint(YearMax) {
				return wrong("cron", "%q is no year: give %d to %d, ranges and lists of them, or *", year, YearMin, YearMax)
			}
		}
	}
	return nil
}

// Next is the first instant after another at which the expression comes; the
// zero time where it comes no more up to YearMax.
func (s *Schedule) Next(after time.Time) time.Time {
	local := s.from(after)
	for {
		local = s.spec.Next(local)
		if local.IsZero() || local.Year() > YearMax {
			return time.Time{}
		}
		instant, skipped := s.resolve(local)
		if skipped {
			local = instant
			continue
		}
		if instant.After(after) {
			return instant
		}
	}
}

// Local times are kept as the UTC time that shows the same clock.

// wall is what a clock of the zone shows at an instant.
func (s *Schedule) wall(instant time.Time) time.Time {
	_, offset := instant.In(s.zone).Zone()
	return instant.UTC().Add(time.Duration(offset) * time.Second)
}

// from is the local time after which to look. Before clocks go back, those
// times that come again are still to come.
func (s *Schedule) from(after time.Time) time.Time {
	local := s.wall(after)
	_, end := after.In(s.zone).ZoneBounds()
	if !end.IsZero() {
		if again := s.wall(end).Add(-time.Nanosecond); again.Before(local) {
			return again
		}
	}
	return local
}

// resolve is the last instant at which the zone's clocks show a local time.
// Where they never do, it is the last local time that they skip with it.
func (s *Schedule) resolve(local time.Time) (instant time.Time, skipped bool) {
	instant = time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, s.zone)
	start, end := instant.ZoneBounds()
	switch shown := s.wall(instant); {
	case shown.After(local): // reckoned with the offset from before the gap
		return s.wall(start).Add(-time.Nanosecond), true
	case shown.Before(local): // …from after it
		return s.wall(end).Add(-time.Nanosecond), true
	}
	if !end.IsZero() {
		_, offset := end.In(s.zone).Zone()
		if again := local.Add(-time.Duration(offset) * time.Second); !again.Before(end) {
			return again.In(time.UTC), false
		}
	}
	return instant.In(time.UTC), false
}
