// Package freeze implements `hookctl freeze` and `hookctl thaw`.
package freeze
