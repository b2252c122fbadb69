package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/config"
	"dormouse/internal/version"
)

const long = `dormoused runs one node of Dormouse, the replicated store for the state of AI agents.

Settings come from a YAML file (--config), from environment variables named
DORMOUSE_SECTION__KEY (such as DORMOUSE_NODE__ID), and from flags. Flags override
environment variables, which override the file. --print-config prints the
effective settings as a YAML file.

SIGINT or SIGTERM shuts the node down gracefully; a second one ends it at once.
The node stays a member: "dormctl leave" removes it permanently.

Exit codes:
`

const examples = `  dormoused --dev                        one node, to try things out
  dormoused --config node.yaml --node-id n1
                                         one of three nodes that share a file:
                                         cluster: {expect: 3, join: [n1:7602, n2:7602, n3:7602]}
  dormoused --node-id n1 --bootstrap     the first node of a cluster that grows later`

// command returns the command line of the daemon.
func (p process) command() *cobra.Command {
	var file, pprofAddr string
	var printConfig, printVersion bool
	root := &cobra.Command{
		Use:           "dormoused",
		Short:         "Run one node of Dormouse",
		Long:          long + exitTable(),
		Example:       examples,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if printVersion {
				_, err := fmt.Fprintln(p.stdout, "dormoused", version.String())
				return err
			}
			c, err := p.load(file, cmd.Flags())
			if err != nil {
				return err
			}
			if printConfig {
				return c.Print(p.stdout)
			}
			profiles, err := listenProfiles(pprofAddr)
			if err != nil {
				return err
			}
			return profiles.during(cmd.Context(), func(ctx context.Context) error { return p.serve(ctx, c) })
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.PersistentFlags().StringVar(&file, "config", "", "YAML file with settings")
	// Cobra's own flag would need a template for this line, and a template makes the
	// linker keep every exported method.
	root.Flags().BoolVarP(&printVersion, "version", "v", false, "print the version, and exit")
	root.Flags().BoolVar(&printConfig, "print-config", false, "print the effective settings, and exit")
	root.Flags().StringVar(&pprofAddr, "pprof-addr", "", "loopback address that serves Go's profiles, for debugging (default off)")
	config.Flags(root.Flags())
	root.AddCommand(p.restoreCommand(&file), p.recoverCommand(&file), p.backupCommand(), p.verifyCommand())
	return root
}

func (p process) load(file string, flags *pflag.FlagSet) (config.Config, error) {
	return config.Load(config.Sources{File: file, Environ: p.environ, Flags: flags})
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{fmt.Errorf("%s takes no arguments, only flags: %q", cmd.CommandPath(), args)}
	}
	return nil
}

// serve runs the node until a signal stops it. For a new dev node it also prints what to try once it is ready.
func (p process) serve(ctx context.Context, c config.Config) error {
	err := p.until(ctx, c.Node.StopTimeout, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		told := make(chan struct{})
		go func() {
			defer close(told)
			if c.Node.Dev && ready(ctx, c) {
				_, _ = fmt.Fprint(p.stdout, next(p.name, c)) // a failure to print is not important
			}
		}()
		p.limitMemory(c)
		err := p.run(ctx, c)
		cancel()
		<-told
		return err
	})
	var stopped *interruptedError
	switch {
	case !errors.As(err, &stopped):
		return err
	case errors.Is(err, context.Canceled):
		return nil // the error only says that a stop was requested
	default:
		return stopped.err
	}
}
