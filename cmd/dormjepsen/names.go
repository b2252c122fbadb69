package main

import (
	"errors"
	"slices"
	"strings"

	"dormouse/internal/cli"
	"dormouse/jepsen/nemesis"
	"dormouse/jepsen/workload/catalog"
)

// everything stands for all names of a list.
const everything = "all"

// workloads reads a list of workloads from the command line.
func workloads(list string) ([]string, error) {
	return names("--workload", list, catalog.Names(), func(name string) error {
		_, err := catalog.New(name)
		return err
	})
}

// nemeses reads a list of nemeses from the command line.
func nemeses(list string) ([]string, error) {
	harmful := slices.DeleteFunc(nemesis.Names(), func(name string) bool { return name == "none" })
	return names("--nemesis", list, harmful, func(name string) error {
		_, err := nemesis.About(name)
		return err
	})
}

// names splits a list by its commas, each name once; known tells what is wrong
// with one.
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
