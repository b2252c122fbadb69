package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/go-viper/mapstructure/v2"
)

// keys is the set of existing settings, dotted and sorted.
type keys []string

func newKeys(all []string) keys {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

// list reports whether the setting takes several values.
func (keys) list(key string) bool {
	return slices.Contains([]string{"backup.recipients", "backup.trusted_keys", "cluster.join", "http.hosts", "http.origins", "instances.http_allow", "instances.keys", "auth.oidc_algorithms"}, key)
}

// structured reports whether the setting is a list of rules, which the environment has as YAML.
func (keys) structured(key string) bool {
	return key == "auth.certificate_rules" || key == "auth.oidc_rules"
}

// check reports unknown keys of a source. spell returns the source's form of a key.
func (k keys) check(source string, given []string, spell func(key string) string) error {
	var problems []string
	for _, key := range given {
		if _, ok := slices.BinarySearch(k, key); ok {
			continue
		}
		if inside := k.under(key); inside != "" {
			problems = append(problems, fmt.Sprintf("%s: %q is a section, not a setting; set what is in it, such as %q",
				source, spell(key), spell(inside)))
			continue
		}
		problems = append(problems, fmt.Sprintf("%s: there is no setting %q; did you mean %q?",
			source, spell(key), spell(k.nearest(key))))
	}
	if problems == nil {
		return nil
	}
	return &Error{Problems: problems}
}

// under returns the first setting in the section that key names, if it names one.
func (k keys) under(key string) string {
	for _, setting := range k {
		if strings.HasPrefix(setting, key+".") {
			return setting
		}
	}
	return ""
}

// nearest returns the setting with the smallest edit distance to key. A right name in the wrong
// section counts as near.
func (k keys) nearest(key string) string {
	_, name, found := strings.Cut(key, ".")
	if !found {
		name = key
	}
	best, bestCost := "", int(^uint(0)>>1)
	for _, setting := range k {
		_, settingName, _ := strings.Cut(setting, ".")
		cost := 2 * levenshtein.Distance(key, setting, nil)
		if moved := 1 + 2*levenshtein.Distance(name, settingName, nil); moved < cost {
			cost = moved
		}
		if cost < bestCost {
			best, bestCost = setting, cost
		}
	}
	return best
}

// decoder parses text as numbers, booleans and durations, because the environment only has text. It
// refuses values of a file that mapstructure would convert to a number of another meaning.
func decoder() *mapstructure.DecoderConfig {
	return &mapstructure.DecoderConfig{
		DecodeHook:       mapstructure.ComposeDecodeHookFunc(checkNumber, mapstructure.StringToTimeDurationHookFunc()),
		WeaklyTypedInput: true,
		ErrorUnused:      true, // in rules; other keys are checked before
	}
}

var (
	errNoUnit   = errors.New("a number without a unit: write a number and a unit, such as 20s or 168h, or 0")
	errNotWhole = errors.New("not a whole number: write plain digits (bytes for sizes), such as 67108864")
)

// checkNumber refuses a number without a unit for a duration, which would be in nanoseconds, and a
// fraction or a boolean for an integer.
func checkNumber(from, to reflect.Value) (any, error) {
	whole := to.CanInt() || to.CanUint()
	switch {
	case !whole || from.Type() == to.Type() || from.Kind() == reflect.String:
	case to.Type() == reflect.TypeFor[time.Duration]() && (!from.IsZero() || from.Kind() == reflect.Bool):
		return nil, errNoUnit
	case from.CanFloat() && from.Float() != math.Trunc(from.Float()), from.Kind() == reflect.Bool:
		return nil, errNotWhole
	}
	return from.Interface(), nil
}

// decodeError says for values of a wrong type what to write instead. mapstructure returns a line
// for each, which begins with the quoted key.
func decodeError(err error) error {
	var problems []string
	for line := range strings.Lines(err.Error()) {
		if key, why, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "'"), "' "); ok {
			problems = append(problems, key+": "+remedy(strings.TrimSpace(why)))
		}
	}
	if problems == nil {
		problems = []string{err.Error()}
	}
	return &Error{Problems: problems}
}

func remedy(why string) string {
	for _, refusal := range []error{errNoUnit, errNotWhole} {
		if strings.Contains(why, refusal.Error()) {
			return refusal.Error()
		}
	}
	switch {
	case strings.HasPrefix(why, "has invalid keys"):
		return why + ": see docs/identities.md for the members of a rule"
	case strings.Contains(why, "'int64'"):
		return errNotWhole.Error()
	case strings.Contains(why, "'bool'"):
		return "write true or false"
	case strings.Contains(why, "duration"):
		return "not a duration: write a number and a unit, such as 20s"
	default:
		return why
	}
}
