package wire

// MembersTrailer is the trailer of an Exchange stream that ends because its
// node stops: the gRPC addresses of the other members, one a value. Whoever
// knew only this node finds the others by it.
const MembersTrailer = "dormouse-members"
