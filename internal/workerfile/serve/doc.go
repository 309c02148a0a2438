// Package serve serves the hooks of a worker file on a client's connection, and reloads them when
// the file changes. hook-worker and `hook-router up` use it.
package serve
