// Package pod keeps groups of instances: a pod's topology names its nodes, who
// owns whom and who depends on whom; getting a pod gets its nodes in waves.
//
// What is here is pure: topologies and what is wrong with them, the order in
// which nodes start, what a mutation comes to, and the slot of a pod's state
// that holds it all. The behaviour is that of Jido's pods (SEMANTICS §4, PD-1
// to PD-15), except that a mutation whose runner died can be resumed, since the
// slot says what it was about.
package pod
