// Package bundle implements the format of signed policies: a worker file and the files that it
// refers to, with a signed statement.
//
// # Format
//
// A bundle is one JSON document, {"statement":…,"files":[{"name":…,"text":…}]}. The worker file is
// the first of the files. The statement is a signed note (c2sp.org/signed-note, like the
// checkpoints of the audit log) with these lines:
//
//	hookrouter policy v1
//	name production
//	serial 7
//	use enforce
//	restores 5
//	commit 0c1f…
//	created 2026-11-23T18:40:00Z
//	sha256 9f86…
//
// restores and commit are optional. use is enforce or shadow. sha256 covers the names, texts and
// order of the files: it is the output of `sha256sum FILES | sha256sum`.
//
// # Meaning of a signature
//
// A signature states that these files are version serial of the policy name, and whether to enforce
// them or to run them in shadow next to the enforced ones. Serials of a name only grow: a worker
// that accepted a serial older than the newest it has seen could be rolled back by anyone with an
// old bundle. To restore older files, sign a statement with a new serial, whose restores is the
// serial of these files.
//
// [Open] verifies the signature before it checks the files. Sizes are limited, names must be below
// a directory, and there is no compression.
package bundle
