// Package pod keeps groups of instances: a pod's topology names its nodes, who
// owns whom and who depends on whom; getting a pod gets its nodes in waves.
//
// What a pod is, is pure: topologies and what is wrong with them, the order in
// which nodes start, what a mutation comes to, whom nodes hang under, and the
// slot of a pod's state that holds it all. Pods makes the calls, over any
// instances; package foreman handles them where the pod is awake.
//
// The behaviour is that of Jido's pods (SEMANTICS §4, PD-1 to PD-15), except
// that a mutation whose runner died goes on by itself: the slot says what it was
// about, and a timer of the pod's takes the next step.
package pod
