package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/pause"
)

// facts are what the nodes of a cluster tell about themselves and about each other.
type facts struct {
	At      time.Time
	Cluster layout.ClusterStatus // as the first node that answered sees it
	Nodes   []nodeFacts

	StatesAsked bool // the nodes were asked for the hash of their rows
}

// nodeFacts are the facts of one member. What could not be asked is absent, and its error is set.
type nodeFacts struct {
	Member   layout.MemberStatus
	Status   *layout.ClusterStatus // as this node sees the cluster
	Err      error                 // why there is no Status
	Settings map[string]document.Setting
	Metrics  metrics // of now
	Before   metrics // of the beginning of the look
	HTTPErr  error   // why there are no Settings or Metrics

	Clock      time.Duration // this machine's clock minus the node's
	ClockBound time.Duration // the most by which Clock is wrong; 0 means that the clock is unknown
	Expires    []certificate

	State    *document.StateSum
	StateErr error // why there is no State
}

// certificate is the certificate of one address of a node.
type certificate struct {
	Addr     string
	NotAfter time.Time
}

// gather asks all members twice, watch apart, and for the hash of their rows if state is set.
func gather(ctx context.Context, a *kit.App, s kit.Store, watch time.Duration, state bool) (*facts, error) {
	status, err := s.Status(ctx)
	if err != nil {
		return nil, err
	}
	f := &facts{At: time.Now(), Cluster: status, Nodes: make([]nodeFacts, len(status.Members))}
	client, err := kit.NewWeb(a)
	if err != nil {
		return nil, err
	}
	each := func(ask func(n *nodeFacts)) {
		var asked sync.WaitGroup
		for i := range f.Nodes {
			if n := &f.Nodes[i]; !n.Member.Host {
				asked.Go(func() { ask(n) })
			}
		}
		asked.Wait()
	}
	for i, m := range status.Members {
		f.Nodes[i].Member = m
	}
	each(func(n *nodeFacts) { n.Before, _ = metricsOf(ctx, client, n) })
	pause.For(ctx, watch)
	each(func(n *nodeFacts) { ask(ctx, a, client, n) })
	if state {
		gatherStates(ctx, client, each, f)
	}
	if ctx.Err() != nil { // what was not asked looks like a failure of its node
		return nil, errors.New("interrupted before all nodes had answered")
	}
	return f, nil
}

// ask asks one node for everything.
func ask(ctx context.Context, a *kit.App, client *kit.Web, n *nodeFacts) {
	n.Status, n.Err = statusOf(ctx, a, n.Member.GRPCAddr)
	n.Settings, n.HTTPErr = settingsOf(ctx, client, n)
	began := time.Now()
	var err error
	if n.Metrics, err = metricsOf(ctx, client, n); err != nil {
		n.HTTPErr = err
	} else if clock, ok := n.Metrics.value("dormouse_clock_seconds"); ok {
		took := time.Since(began)
		n.ClockBound = took/2 + time.Millisecond
		n.Clock = began.Add(took / 2).Sub(time.UnixMicro(int64(clock * 1e6)))
	}
	if client.TLS != nil {
		for _, addr := range []string{n.Member.HTTPAddr, n.Member.GRPCAddr} {
			if one, ok := expiry(ctx, client.TLS, addr); ok {
				n.Expires = append(n.Expires, one)
			}
		}
	}
}

// statusOf returns the status of the cluster as the node at an address sees it.
func statusOf(ctx context.Context, a *kit.App, addr string) (_ *layout.ClusterStatus, err error) {
	s, err := a.OpenNode(addr)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // only asked
	ctx, cancel := context.WithTimeout(ctx, kit.AskTimeout)
	defer cancel()
	status, err := s.Status(ctx)
	if err != nil {
		return nil, err
	}
	return &status, nil
}

// expiry returns the end of the certificate at an address, if that serves TLS.
func expiry(ctx context.Context, config *tls.Config, addr string) (certificate, bool) {
	ctx, cancel := context.WithTimeout(ctx, kit.AskTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return certificate{}, false
	}
	config = config.Clone()
	config.ServerName = host
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return certificate{}, false
	}
	defer conn.Close() //nolint:errcheck // only looked at
	secured, ok := conn.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return certificate{}, false
	}
	return certificate{addr, secured.ConnectionState().PeerCertificates[0].NotAfter}, true
}

// settingsOf returns a node's settings by name.
func settingsOf(ctx context.Context, w *kit.Web, n *nodeFacts) (map[string]document.Setting, error) {
	raw, err := w.Get(ctx, n.Member.HTTPAddr, "/v1/cluster/settings")
	if err != nil {
		return nil, err
	}
	var answer document.Settings
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	found := map[string]document.Setting{}
	for _, s := range answer.Settings {
		found[s.Name] = s
	}
	return found, nil
}

func metricsOf(ctx context.Context, w *kit.Web, n *nodeFacts) (metrics, error) {
	raw, err := w.Get(ctx, n.Member.HTTPAddr, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseMetrics(raw)
}
