package grpc

import rpc "google.golang.org/grpc"

// Info describes the methods that the server serves.
func (s *Server) Info() map[string]rpc.ServiceInfo { return s.rpc.GetServiceInfo() }
