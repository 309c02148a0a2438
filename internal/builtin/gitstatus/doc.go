// Package gitstatus is the builtin git-status: it gives the agent the git status of its working
// directory whenever the status changed since the session last got it.
//
//	hooks:
//	  - id: git-status
//	    builtin:
//	      git-status:
//	        max_files: 30
//
// It must run on the machine that has the agent's files. Without git or a repository, it adds
// nothing.
//
// # Untrusted repositories
//
// The configuration of a repository can name programs for git to run and paths for it to read, and
// an agent may be able to change it at any time. So git never reads it. Instead, git gets a copy of
// the repository's index and refs, its harmless settings only, and a work tree that the worker
// chooses. Symbolic links out of the repository are not followed; a linked worktree is accepted
// only if its repository lists it. Only objects are read in place.
//
// Since filters are disabled, a file with a filter may be shown as modified. The copy is in the
// user's cache directory, or in the directory for temporary files if there is none: deny sandboxed
// agents access to it.
package gitstatus
