// Package gossip tells which nodes are alive, as far as this node can see.
//
// It is memberlist behind a small face, and a hint in every respect: each side
// of a cut sees only itself, so nothing that it says gives anybody a right.
// Who may vote, own or write is decided in the log.
//
// What the package adds: a loop that joins again whoever is not seen alive,
// since memberlist forgets the dead after 30 s and two halves of a cut never
// find each other again (HAZARDS G2); the operator's name for a node together
// with its incarnation; conflicts of names counted and refused (G3);
// metadata below 256 bytes (G5); and no traffic in the clear off loopback
// unless that is asked for (G4).
package gossip
