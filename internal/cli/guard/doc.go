// Package guard implements `hookctl guard`, which lists, pins and unpins guards.
package guard
