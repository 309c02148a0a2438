// Package follow keeps a worker on the newest signed policy of a name.
//
// A [Follower] polls routers for the bundles of the policy, one to enforce and one to run in
// shadow. It applies a bundle only if a configured key signed it, its serial is newer than all that
// were applied, its hooks do only what the worker permits policies, and its tests pass. It stores
// applied bundles on disk, readable by the owner only, and verifies them again when it starts. So
// it can start without routers, and a store that is empty or has an old bundle changes nothing.
//
// The hooks of a shadow bundle are registered in addition to the enforced ones, in mode shadow,
// with ids that end in [ShadowSuffix]. They have their own state. An enforced bundle ends a shadow
// bundle with the same or a lower serial.
//
// [serve.Run] gets the hooks from [Follower.Read], and reports through [Follower.Applying] whether
// routers accepted them. A bundle whose hooks are refused is refused.
package follow
