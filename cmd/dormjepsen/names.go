package main

import (
	"errors"
	"slices"
	"strings"

	"dormouse/internal/cli"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/workload/catalog"
)

// everything selects all names of a list.
const everything = "all"

// workloads parses a list of workloads.
func workloads(list string) ([]string, error) {
	return names("--workload", list, catalog.Names(), func(name string) error {
		_, err := catalog.New(name)
		return err
	})
}

// nemeses parses a list of nemeses.
func nemeses(list string) ([]string, error) {
	harmful := slices.DeleteFunc(nemesis.Names(), func(name string) bool { return name == "none" })
	return names("--nemesis", list, harmful, func(name string) error {
		_, err := nemesis.About(name)
		return err
	})
}

// names splits a list at its commas and removes duplicates; known returns an error for
// an unknown name.
func names(flag, list string, all []string, known func(string) error) ([]string, error) {
	if list == everything {
		return all, nil
	}
	var out []string
	var wrong []error
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(out, name) {
			continue
		}
		if err := known(name); err != nil {
			wrong = append(wrong, err)
		}
		out = append(out, name)
	}
	if wrong != nil {
		return nil, cli.Usagef("%s: %w", flag, errors.Join(wrong...))
	}
	if out == nil {
		return nil, cli.Usagef("%s names nothing: give some of %s, or %s", flag, strings.Join(all, ", "), everything)
	}
	return out, nil
}
