package jepsen

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"dormouse/jepsen/sdkclient"
	"dormouse/jepsen/testbed"
	"dormouse/jepsen/workload"
	"dormouse/jepsen/workload/catalog"
)

// libraries are the libraries for other languages that take part in a run.
type libraries struct {
	of       map[string]workload.Via // of a workload: the language of its library
	commands map[workload.Via]sdkclient.Command
}

// drawn returns the languages in the order in which a workload prefers them, which the seed decides.
func drawn(seed uint64, name string) []sdkclient.Language {
	lane := fnv.New64a()
	_, _ = lane.Write([]byte("library " + name))
	all := sdkclient.Languages()
	rand.New(rand.NewPCG(seed, lane.Sum64())).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// openLibraries gives each workload that can call with a library the first language that it prefers and that prepare
// finds on this machine. missing says which ones it lacks, a line each.
func openLibraries(seed uint64, workloads []string, prepare func(sdkclient.Language) (sdkclient.Command, error)) (l libraries, missing []string) {
	l = libraries{of: map[string]workload.Via{}, commands: map[workload.Via]sdkclient.Command{}}
	asked := map[workload.Via]bool{}
	ready := func(language sdkclient.Language) bool {
		via := workload.Via(language.ID)
		if !asked[via] {
			asked[via] = true
			command, err := prepare(language)
			if err == nil {
				l.commands[via] = command
			} else {
				missing = append(missing, fmt.Sprintf("no process calls with the library for %s: %v", language.Name, err))
			}
		}
		return l.commands[via].Args != nil
	}
	for _, name := range workloads {
		if !catalog.ByLibrary(name) {
			continue
		}
		languages := drawn(seed, name)
		if i := slices.IndexFunc(languages, ready); i >= 0 {
			l.of[name] = workload.Via(languages[i].ID)
		}
	}
	return l, missing
}

// librariesOf opens the libraries of a run, from the checkout of this module.
func librariesOf(ctx context.Context, o Options) (l libraries, missing []string) {
	if !slices.ContainsFunc(o.Workloads, catalog.ByLibrary) {
		return libraries{}, nil
	}
	root, err := testbed.ModuleRoot(ctx)
	if err != nil {
		return libraries{}, []string{fmt.Sprintf("no process calls with a library for another language: %v", err)}
	}
	return openLibraries(o.Seed, o.Workloads, func(language sdkclient.Language) (sdkclient.Command, error) {
		return language.Prepare(ctx, root, filepath.Join(o.Dir, nodesDir, "libraries", language.ID))
	})
}

// start starts a program on the clients' host that calls nodes with the library of a language.
func (l libraries) start(bed *testbed.Bed, via workload.Via, token string, urls []string) (*sdkclient.Program, error) {
	c := l.commands[via]
	env := append([]string{sdkclient.EnvURLs + "=" + strings.Join(urls, ","), sdkclient.EnvToken + "=" + token}, c.Env...)
	a, err := testbed.Attend(bed, string(via)+".log", c.Authority, env, c.Args...)
	if err != nil {
		return nil, err
	}
	return &sdkclient.Program{Stdin: a.Stdin, Stdout: a.Stdout, End: a.End}, nil
}
