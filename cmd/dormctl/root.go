package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dormouse/client"
	"dormouse/cmd/dormctl/doctor"
	"dormouse/cmd/dormctl/identity"
	"dormouse/cmd/dormctl/kit"
	"dormouse/cmd/dormctl/mcp"
	"dormouse/cmd/dormctl/operator"
	"dormouse/cmd/dormctl/top"
	"dormouse/cmd/dormctl/transfer"
	"dormouse/internal/cli"
)

const (
	endpointsEnv = client.EnvEndpoints
)

// run runs the command that args name, and returns the exit code.
func run(ctx context.Context, a *kit.App, args []string) int {
	root := newRoot(a)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		a.Output = kit.OutputIn(args, a.Output) // a flag after the wrong one was not read
		return cli.FlagError(cmd, err)
	})
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.Command = cmd.CommandPath()
		a.Explain(err)
	}
	return kit.ExitCode(err)
}

// newRoot returns the whole command line. One file holds one subcommand, or one noun
// of them.
func newRoot(a *kit.App) *cobra.Command {
	endpoints := kit.EndpointsDefault
	if set := a.Getenv(endpointsEnv); set != "" {
		endpoints = set
	}
	root := &cobra.Command{
		Use:           "dormctl",
		Short:         "Read and change the data of a Dormouse cluster",
		Long:          "dormctl reads and changes the data of a Dormouse cluster, through any of its nodes.\n\n" + kit.ExitTable,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usagef("there is no command %q%s", args[0], cli.Suggest(cmd, args[0]))
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return errors.Join(noEmptyFlags(cmd), checkFlags(a)) },
	}
	cli.HideAliases(root)
	flags := root.PersistentFlags()
	flags.StringVar(&a.Endpoints, "endpoints", endpoints, "gRPC addresses of nodes, comma-separated ("+endpointsEnv+")")
	flags.StringVar(&a.Ca, "ca", a.Getenv(kit.CaEnv), "PEM file of the CA that signed the nodes' certificates; enables TLS ("+kit.CaEnv+")")
	flags.StringVar(&a.Cert, "cert", a.Getenv(kit.CertEnv), "PEM file of this client's certificate, if nodes require one ("+kit.CertEnv+")")
	flags.StringVar(&a.Key, "key", a.Getenv(kit.KeyEnv), "PEM file of the key of --cert ("+kit.KeyEnv+")")
	flags.StringVar(&a.TokenFile, "token-file", "", "file of the token; otherwise "+kit.TokenEnv+", "+kit.TokenFileEnv+", or the token of the last login")
	flags.BoolVar(&a.Insecure, "insecure", false, "send the token also without TLS to other machines")
	flags.StringVar(&a.ClusterID, "cluster-id", a.Getenv(kit.ClusterIDEnv), "id of the cluster; nodes of other clusters are refused (default: the cluster of the first node that answers) ("+kit.ClusterIDEnv+")")
	flags.StringVar(&a.Scope, "scope", "default", "scope of the command")
	flags.DurationVar(&a.Timeout, "timeout", 10*time.Second, "timeout of a call")
	flags.StringVarP(&a.Output, "output", "o", kit.OutputTable, "table, json or yaml")
	flags.BoolVar(&a.Stale, "stale", false, "read from the connected node, without waiting for the leader")
	flags.Uint64Var(&a.MinIndex, "min-index", 0, "read only once the node has applied this index")
	flags.Var(&a.Fence, "fence", "write only while this holding of a claim lasts")
	flags.StringVar(&a.RequestID, "request-id", "", "repeat a write of unknown outcome under its id")

	root.AddCommand(
		checkpointsCommand(a), threadsCommand(a), agentsCommand(a), valuesCommand(a), claimsCommand(a),
		sessionsCommand(a), reviewsCommand(a), memoryCommand(a), conversationsCommand(a), filesCommand(a),
		managersCommand(a), instancesCommand(a), timersCommand(a), cronCommand(a), podsCommand(a), scopesCommand(a), watchCommand(a),
		deletionsCommand(a), commitCommand(a), versionCommand(a),
	)
	operator.Add(root, a)
	doctor.Add(root, a)
	identity.Add(root, a)
	transfer.Add(root, a)
	root.AddCommand(mcp.Command(a), top.Command(a))
	complete(a, root)
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

func checkFlags(a *kit.App) error {
	if !slices.Contains([]string{kit.OutputTable, kit.OutputJSON, kit.OutputYAML}, a.Output) {
		return cli.Usagef("--output is %q: use table, json or yaml", a.Output)
	}
	if a.Timeout <= 0 {
		return cli.Usagef("--timeout is %v: use a positive duration, such as 10s", a.Timeout)
	}
	return nil
}
