// Package natscontext reads and writes the contexts of the nats command line.
//
// A router with an embedded server writes a context for each of its default identities, with a name
// made of the server's address and the role. Clients without configured credentials find them
// there: see [Find].
package natscontext
