// Package cron computes the next occurrence of a cron expression in a time zone.
//
// The expression names local times, which the zone converts to instants. A local time
// that the zone skips, as when clocks go forward, does not occur. One that it has
// twice, as when clocks go back, occurs once, at the later instant (docs/semantics.md
// §6, C-10). The result depends only on the arguments and the zone database. Go loads
// that from $ZONEINFO, or from the machine's files, or else uses the linked copy. So
// nodes may have databases of different age: the log keeps what the leader computes.
package cron

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a machine without zone files has these

	"github.com/netresearch/go-cron"
)

// Limits of expressions.
const (
	ExpressionBytesMax = 256
	ZoneBytesMax       = 64
	YearMin            = 1970 // of the year field
	YearMax            = 2199 // …and the last in which anything comes
)

// Error says whether the expression or the zone is invalid, and why.
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

// macros are the named expressions.
var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// fields are the fields of an expression, by their number. If neither day field is *,
// a day matches if one of them does, as in crontab(5).
var fields = map[int]cron.ParseOption{
	5: cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Extended | cron.DowOrDom,
	6: cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Extended | cron.DowOrDom,
	7: cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Year | cron.Extended | cron.DowOrDom,
}

// Parse reads an expression of five fields (minute, hour, day of the month,
// month, day of the week), of six (seconds first), of seven (the year last), or
// a macro such as @daily; zone is an IANA name, "" means UTC. Errors are *Error. An
// expression that never occurs is an error.
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

// check refuses expressions that the parser accepts and this package does not: lists
// with nothing between two commas, zones, and years that would fill the memory.
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

// checkYear accepts years of four digits, ranges of them, and steps.
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

// Next returns the first occurrence of the expression after an instant; the zero time
// if there is none up to YearMax.
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

// Local times are represented by the UTC time with the same clock reading.

// wall returns the local time of an instant.
func (s *Schedule) wall(instant time.Time) time.Time {
	_, offset := instant.In(s.zone).Zone()
	return instant.UTC().Add(time.Duration(offset) * time.Second)
}

// from returns the local time after which to search. Before clocks go back, the times
// that will repeat are still ahead.
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

// resolve returns the last instant with that local time. If the zone skips the local
// time, it returns the end of the gap.
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
