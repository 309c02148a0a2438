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
// The settings of a repository may name programs for git to run, and an agent may be
// able to write them. Those that a status could run are switched off: the monitor of
// files, hooks, filters, submodules, repositories within directories of a tree, and
// the fetching of objects that are missing. A file that a filter would change may
// therefore be shown as modified. Filters are looked up just before: who changes the
// settings in between has a filter run, with the rights of the worker.
package gitstatus
