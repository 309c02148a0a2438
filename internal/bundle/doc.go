// Package bundle is the form of a signed policy: a worker file and the files that it
// refers to, with a statement that somebody signed.
//
// # Form
//
// A bundle is one JSON document, {"statement":…,"files":[{"name":…,"text":…}]}. The worker
// file is the first of the files. The statement is a signed note (c2sp.org/signed-note, as
// the checkpoints of the audit log are) with one line each:
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
// restores and commit may be missing. use is enforce or shadow. sha256 covers names, texts
// and order of the files: it is what `sha256sum FILES | sha256sum` prints.
//
// # What a signature says
//
// That these files are version serial of the policy name, and whether they are to be
// enforced or tried beside what is. Serials of a name only grow: who takes an older serial
// than the newest it has seen, can be rolled back by whoever kept an old bundle. An older
// content comes into force again by a statement with a new serial, which says in restores
// where it is from.
//
// [Open] checks the signature first and reads nothing of the files before. Sizes are bounded,
// names stay below a directory, and there is no compression.
package bundle
