package clustertest

import "dormouse/cluster/keys"

// Keys are the cluster keys of tests.
var Keys = keys.Ring{keys.New()}
