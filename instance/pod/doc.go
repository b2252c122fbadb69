// Package pod manages groups of instances. A pod's topology names its nodes,
// their owners and their dependencies. Getting a pod starts its nodes in waves.
//
// The model is pure. It consists of topologies and their validation, the order
// in which nodes start, the plan of a mutation, and the parents of nodes. The
// slot of a pod's state stores it. Pods makes the calls, over any
// agent.Instances. Package controller handles them where the pod is awake.
//
// The behaviour is that of Jido's pods (conformance ids PD-1 to PD-15) with one
// exception: a mutation continues after its runner died. The slot stores its
// remaining work, and a timer of the pod runs the next step.
package pod
