// Package gitstatus is the builtin git-status: it tells the agent what git says about
// the directory it works in, whenever that is news to the session.
//
//	hooks:
//	  - id: git-status
//	    builtin:
//	      git-status:
//	        max_files: 30
//
// It must run beside the agent's files. Without git, or without a repository, it keeps
// silent.
//
// # Repositories that can't be trusted
//
// The settings of a repository may name programs for git to run, and places to look at, and an
// agent may be able to write them at any time. So git never reads them. It works on a copy of
// what the repository has for the index and the refs, with the settings of it that are harmless,
// and the worker decides which directory the files are in. Links are not followed out of the
// repository; a linked worktree counts if its repository knows it. Only objects are read in
// place.
//
// Without filters, a file that one would change may be shown as modified. The copy is in the
// user's cache directory, or that for temporary files where there is none: keep it from an
// agent in a sandbox.
package gitstatus
