// Package pathguard is the builtin path-guard: it prevents agents from reading or writing files
// that they should not access. It has built-in lists of secrets, settings and system directories.
//
//	hooks:
//	  - id: path-guard
//	    builtin:
//	      path-guard:
//	        deny: ["**/secrets/**"]
//	        deny_write: ["/srv/**", "**/migrations/**"]
//	        allow: ["**/.env.example"]
//	        only_write: ["/repo/**", "/tmp/**"]
//	        unclear: ask
//
// # Order
//
// For each path: deny and deny_write of the configuration; then allow, whose paths are allowed;
// then the built-in lists; then only and only_write, outside of which nothing may be accessed.
// Patterns are described in package paths.
//
// # Shells
//
// In a shell command, the guard evaluates the redirections and the arguments that are paths, as far
// as package shell knows them. Known commands are treated as reading or writing their files. For
// other commands, and for the arguments of scripts, the guard asks about a path that must not be
// written. Search expressions, messages and excluded names are not treated as files where they are
// known. The guard follows cd. It does not see files that a program opens without naming them.
//
// # Directories
//
// Removing, moving, replacing or filling a directory affects its contents. The guard asks about
// such a command if a pattern names the directory before its first **, not counting one at the
// beginning: /srv/a/** names /srv, **/.git/hooks/** names .git, and **/.env names none.
//
// # Links
//
// A path is evaluated as text. The worker may run on another machine than the agent, so it can't
// follow links: an agent that can create a link, and read or write through it, bypasses this guard.
// Use file system permissions or a sandbox where that matters.
package pathguard
