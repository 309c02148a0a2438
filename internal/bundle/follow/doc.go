// Package follow keeps a worker at the newest signed policy of a name.
//
// A [Follower] asks routers for the bundles of the policy, the one to be enforced and the one
// to be tried in shadow. It takes one over only where a configured key signed it, its serial
// is newer than any that it has taken, its hooks do only what the worker lets policies do,
// and its tests pass. What it takes it keeps on disk, for its owner only, and checks again
// when it starts: so it starts without routers too, and a store that was emptied, or holds
// an old bundle, changes nothing.
//
// The hooks of a bundle in shadow are registered beside the others, with [ShadowSuffix] behind
// their ids, in mode shadow; what they remember is theirs alone. A bundle that is enforced
// ends those in shadow with lower serials.
//
// [serve.Run] asks for the hooks with [Follower.Read], and reports with [Follower.Applying]
// whether routers took them: a bundle whose hooks are refused is refused.
package follow
