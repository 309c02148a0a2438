// Package bucket stores the state of hooks in a NATS key-value bucket, which all replicas of a
// worker share.
package bucket
