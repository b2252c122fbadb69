package client

import "dormouse/instance/pod"

// Pods returns the cluster's pods.
func (c *Client) Pods() pod.Pods {
	return pod.Pods{Instances: c.Instances(), Service: c, Scope: c.o.Scope}
}
