// Package builtin says what a hook is that comes with hook-worker: its options,
// and a registration that suits it. Each such hook is a package below this one;
// package all lists them.
//
// In a worker file one is used by its name:
//
//	hooks:
//	  - id: protect-etc
//	    builtin:
//	      path-guard:
//	        deny: ["/etc/**"]
//
// The fields of the registration that the file leaves out are those of
// [Builtin.Registration]. Guards register with on_failure deny.
package builtin
