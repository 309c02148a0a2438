// Package freeze has the commands `hookctl freeze` and `hookctl thaw`.
package freeze
