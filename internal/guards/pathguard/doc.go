// Package pathguard is the builtin path-guard: it keeps an agent from files that are
// none of its business, and from writing others. A list of secrets, settings and
// system directories is built in.
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
// For each path: deny and deny_write of the file; then allow, whose paths pass; then
// what is built in; then only and only_write, outside of which nothing is touched.
// The patterns are those of package paths.
//
// # Shells
//
// Of a shell's command it judges the redirections and the arguments that are paths,
// as far as package shell knows them. Commands that are known to read or to write
// files are judged so; of others, and of what a script is given, a path that must not
// be written is asked about. Expressions, messages and names that are left out are no
// files, as far as they are known. cd is followed. What a program opens without naming
// it is not seen.
//
// # Directories
//
// Who removes, moves, replaces or fills a directory touches what is in it. Such a
// command is asked about where a pattern names the directory before its first **, one
// at the beginning aside: /srv/a/** has /srv, **/.git/hooks/** has .git, and **/.env
// has none.
//
// # Links
//
// A path is judged by its text. The worker may be on another machine than the agent,
// so it can't follow links: an agent that may create one, and read or write through
// it, gets around this guard. Who must be sure uses rights of the file system, or a
// sandbox.
package pathguard
