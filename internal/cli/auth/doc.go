// Package auth implements the commands of `hookctl auth`: credentials for agents, workers and
// people.
package auth
