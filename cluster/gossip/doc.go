// Package gossip reports which nodes seem alive to this node.
//
// It wraps memberlist, and its results are hints: each side of a partition sees
// only itself, so gossip grants no rights. The log decides which nodes vote, own
// and write.
//
// The package adds to memberlist (the ids are those of docs/hazards.md): a loop
// that rejoins members that are not seen alive, since memberlist forgets failed
// members after 30 s and two halves of a partition would never find each other
// again (G2); a node's incarnation beside its name; conflicts of names are counted
// and refused (G3); metadata below 256 bytes (G5); and no unencrypted traffic off
// loopback unless the operator asks for it (G4).
package gossip
