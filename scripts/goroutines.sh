# shellcheck shell=bash disable=SC2034 # is sourced
# goroutines matches a line of Go that starts goroutines, or uses what does.
goroutines='(^|[[:space:]])go (func|[[:alnum:]_.]+\()|\.Go\(|AfterFunc\(|chan |"net/http|"google\.golang\.org/grpc"|t\.Parallel|synctest|(node|agent|cluster|workload|pod)test"'
