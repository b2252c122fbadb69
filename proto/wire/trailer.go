package wire

// MembersTrailer is the trailer of an Exchange stream that ends because its
// node stops: the gRPC addresses of the other members, one a value. Whoever
// knew only this node finds the others by it.
const MembersTrailer = "dormouse-members"

// OwnerHeader is the header of an answer to a call on a live instance that
// another node owns: that node's gRPC address. Whoever calls the instance again
// may go there at once.
const OwnerHeader = "dormouse-owner"
