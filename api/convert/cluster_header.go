package convert

// ClusterHeader is the metadata key of a cluster's id. In a call it names the
// cluster that the caller wants, and a node of another one refuses the call. In
// an answer's header it names the cluster of the node that answers, "" while
// that node belongs to none.
const ClusterHeader = "dormouse-cluster"
