package grpc

import rpc "google.golang.org/grpc"

// Info describes the methods that the server serves.
func (s *Server) Info() map[string]rpc.ServiceInfo { return s.rpc.GetServiceInfo() }

// Malformed returns how many malformed messages the servers remember.
func Malformed() (n int) {
	malformed.Range(func(any, any) bool { n++; return true })
	return n
}
