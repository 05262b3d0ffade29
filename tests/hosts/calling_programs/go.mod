module example.com/host

go 1.21

require github.com/creachadair/jrpc2 v1.2.1

require (
	github.com/creachadair/mds v0.16.0 // indirect
	golang.org/x/sync v0.8.0 // indirect
)
