package node

import (
	"context"
	"fmt"
	"os"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/config"
	"dormouse/fsm"
)

// authenticating reports whether the node's servers ask for credentials.
func (o Options) authenticating() bool {
	return o.Config.Auth.Mode == config.AuthTokens && !o.Headless
}

// rootToken creates the cluster's first token.
type rootToken struct {
	node    *Node
	written bool   // the secret was written to the configured file
	secret  string // "" before the first attempt; kept, since the outcome of an attempt may be unknown
}

// rootRetry is the interval between attempts to create the first token.
const rootRetry = 50 * time.Millisecond

// run creates the cluster's first token, if there never was one. Then it waits until this
// node no longer leads.
func (r *rootToken) run(ctx context.Context) {
	defer func() { <-ctx.Done() }()
	ticker := time.NewTicker(rootRetry)
	defer ticker.Stop()
	for {
		switch done, err := r.try(ctx); {
		case done:
			return
		case err != nil:
			r.node.logger.Debug("the root token is not created yet", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// try reports whether the cluster has its first token.
func (r *rootToken) try(ctx context.Context) (done bool, err error) {
	n := r.node
	if n.group.Ready() != nil || n.machine.FeatureLevel() < fsm.TokensLevel {
		return false, nil
	}
	view := n.machine.View()
	founded, err := view.TokensFounded()
	view.Close()
	if err != nil || founded && r.secret == "" {
		return founded, err
	}
	if r.secret == "" {
		if r.secret, err = r.newSecret(); err != nil {
			n.fail(fault("auth.root_token_file", err, codeConfig))
			return true, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, barrierMax)
	defer cancel()
	_, err = n.store.Commit(ctx, agent.Commit{Ops: []agent.Op{&agent.PutToken{
		Hash: agent.HashToken(r.secret), Principal: agent.RootPrincipal, Grants: agent.Everything(), Founding: true,
	}}})
	switch {
	case err == nil:
		r.tell()
		r.secret = "" // shown once, also if this node leads again
		return true, nil
	case agent.CodeOf(err) == agent.CodeAlreadyExists: // another node was first
		if r.written {
			err = os.Remove(n.o.Config.Auth.RootTokenFile)
			return true, err
		}
		return true, nil
	default:
		return false, err
	}
}

// newSecret returns the secret of the first token: that of the file if there is one, or else a
// new one. It writes a new one to the file before the token exists, so that a crash cannot lose it.
func (r *rootToken) newSecret() (string, error) {
	file := r.node.o.Config.Auth.RootTokenFile
	if file == "" {
		return access.NewSecret(), nil
	}
	secret, err := access.ReadSecretFile(file)
	if err == nil || !os.IsNotExist(err) {
		return secret, err
	}
	secret = access.NewSecret()
	r.written = true
	return secret, access.WriteSecretFile(file, secret)
}

// tell tells the operator where the first token is. It is the only time that it is shown.
func (r *rootToken) tell() {
	n := r.node
	switch file := n.o.Config.Auth.RootTokenFile; {
	case n.o.RootToken != nil:
		n.o.RootToken(r.secret)
	case file != "":
		n.logger.Info("the cluster has its root token", "file", file)
	default:
		const line = "----------------------------------------------------------------------"
		_, _ = fmt.Fprintf(os.Stderr, "%s\nThe root token of cluster %s. It may do everything, and is shown once:\n\n    %s\n\n"+
			"\"dormctl login\" stores it for this user.\n%s\n", line, n.clusterID(), r.secret, line)
	}
}

// warnOpen logs that the node asks for no credentials, unless it is a dev node on loopback.
func warnOpen(n *Node) {
	c := n.o.Config
	if c.Node.Dev && c.Private() {
		return
	}
	n.logger.Warn("this node asks for no credentials: whatever reaches it may do everything", "http", c.HTTP.Addr, "grpc", c.GRPC.Addr, "redis", c.Redis.Addr, "insecure", c.Node.Insecure)
}
