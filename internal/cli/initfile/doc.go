// Package initfile implements `hookctl init`, which writes a worker file for the contents of a
// directory. It reads the names of files and of build targets, and needs no router.
package initfile
