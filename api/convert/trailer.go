package convert

// MembersTrailer is the trailer of an Exchange stream that ends because its
// node stops: the gRPC addresses of the other members, one a value. A client that
// knew only this node finds the others by it.
const MembersTrailer = "dormouse-members"

// OwnerHeader is the header of an answer to a call on a live instance that
// another node owns: that node's gRPC address. The client may send its next call on
// the instance there.
const OwnerHeader = "dormouse-owner"

// RelayHeader is the metadata of a call on an instance between nodes. It asks the
// node to send the call on to the owner if that is another node, which the caller
// cannot reach. Without it a node answers for its own instances alone.
const RelayHeader = "dormouse-relay"
