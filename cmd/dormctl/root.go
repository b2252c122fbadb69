package main

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/client"
	"dormouse/internal/cli"
)

const (
	endpointsDefault = "127.0.0.1:7601"
	endpointsEnv     = client.EnvEndpoints
)

// root is the whole command line.
func (a *app) root() *cobra.Command {
	endpoints := endpointsDefault
	if set := a.getenv(endpointsEnv); set != "" {
		endpoints = set
	}
	root := &cobra.Command{
		Use:           "dormctl",
		Short:         "Look into a Dormouse cluster and change what is in it",
		Long:          "dormctl looks into a Dormouse cluster and changes what is in it, through any of its nodes.\n\n" + exitTable,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usagef("there is no command %q%s", args[0], cli.Suggest(cmd, args[0]))
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return errors.Join(noEmptyFlags(cmd), a.checkFlags()) },
	}
	cli.HideAliases(root)
	flags := root.PersistentFlags()
	flags.StringVar(&a.endpoints, "endpoints", endpoints, "gRPC addresses of nodes, comma-separated ("+endpointsEnv+")")
	flags.StringVar(&a.ca, "ca", a.getenv(caEnv), "PEM file of who signed the nodes' certificates; asks for TLS ("+caEnv+")")
	flags.StringVar(&a.cert, "cert", a.getenv(certEnv), "PEM file of this client's certificate, where nodes ask for one ("+certEnv+")")
	flags.StringVar(&a.key, "key", a.getenv(keyEnv), "PEM file of its key ("+keyEnv+")")
	flags.StringVar(&a.clusterID, "cluster-id", a.getenv(clusterIDEnv), "id of the cluster: nodes of others are refused; without it that of the first node that answers counts ("+clusterIDEnv+")")
	flags.StringVar(&a.scope, "scope", "default", "scope to work in")
	flags.DurationVar(&a.timeout, "timeout", 10*time.Second, "how long a call may take")
	flags.StringVarP(&a.output, "output", "o", outputTable, "table, json or yaml")
	flags.BoolVar(&a.stale, "stale", false, "read from the node that is asked, however old its state is")
	flags.Uint64Var(&a.minIndex, "min-index", 0, "read only once the node has applied this index")
	flags.Var(&a.fence, "fence", "write only while this holding of a claim stands")
	flags.StringVar(&a.requestID, "request-id", "", "repeat a write of unknown outcome under the id it had")

	root.AddCommand(
		a.statusCommand(), a.membersCommand(), a.topCommand(),
		a.placementCommand(), a.leaveCommand(), a.transferCommand(), a.promoteCommand(), a.demoteCommand(),
		a.checkpointsCommand(), a.threadsCommand(), a.agentsCommand(), a.valuesCommand(), a.claimsCommand(),
		a.sessionsCommand(), a.reviewsCommand(), a.memoryCommand(), a.conversationsCommand(), a.filesCommand(),
		a.managersCommand(), a.instancesCommand(), a.timersCommand(), a.cronCommand(), a.podsCommand(), a.scopesCommand(), a.watchCommand(),
		a.commitCommand(), a.importCommand(), a.exportCommand(),
		a.backupCommand(), a.snapshotCommand(), a.certsCommand(), a.versionCommand(),
	)
	a.complete(root)
	return root
}

// mayBeEmpty are the flags of text that may be empty, and those that an empty
// value takes back from the environment.
var mayBeEmpty = []string{"prefix", "after", "contains", "note", "reason", "time-zone", "ca", "cert", "key", "cluster-id"}

// noEmptyFlags refuses a flag that was given an empty value: a name that a
// script meant to fill in is not the same as none.
func noEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		empty := flag.Value.Type() == "string" && flag.Value.String() == ""
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil && !slices.Contains(mayBeEmpty, flag.Name) {
			err = cli.Usagef("--%s is empty: leave it out, or give it a value", flag.Name)
		}
	})
	return err
}

func (a *app) checkFlags() error {
	if !slices.Contains([]string{outputTable, outputJSON, outputYAML}, a.output) {
		return cli.Usagef("--output is %q: use table, json or yaml", a.output)
	}
	if a.timeout <= 0 {
		return cli.Usagef("--timeout is %v: use a positive duration, such as 10s", a.timeout)
	}
	return nil
}
