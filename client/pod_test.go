package client_test

import (
	"testing"

	"dormouse/instance/pod"
	"dormouse/instance/pod/podtest"
	"dormouse/node/nodetest"
)

func TestPodsConform(t *testing.T) {
	podtest.Run(t, func(t *testing.T) pod.Pods {
		t.Helper()
		return nodetest.StartWith(t, nodetest.Options{Handlers: podtest.Handlers()}).Pods()
	})
}
