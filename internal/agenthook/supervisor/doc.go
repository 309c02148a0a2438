// Package supervisor is the process that a coding agent starts as its hook. It has a second
// process ask the router, and notices where that dies, hangs or says what can't be read.
//
// It imports little, so that it can run while the packages of the rest of the program are
// not initialized yet: that is most of the time that a hook takes.
package supervisor
