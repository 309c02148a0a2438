// Package initfile has hookctl init: a worker file for what stands in a directory. It reads
// names of files and of build targets, and needs no router.
package initfile
