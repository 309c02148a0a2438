// Package initfile implements hookctl init: a worker file for what a directory contains. It
// reads names of files and of build targets, and needs no router.
package initfile
