// Package serve answers for the hooks of a worker file on the connection of a client, and
// keeps them what the file says while it runs. hook-worker and `hook-router up` do so with
// it.
package serve
