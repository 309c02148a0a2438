// Package builtin defines the hooks that come with hook-worker: a builtin has options
// and a default registration. Each one is a package below this one; package all lists
// them.
//
// A worker file refers to a builtin by its name:
//
//	hooks:
//	  - id: protect-etc
//	    builtin:
//	      path-guard:
//	        deny: ["/etc/**"]
//
// Fields of the registration that the file omits default to those of
// [Builtin.Registration]. Guards register with on_failure deny.
package builtin
