// Package policies holds example policies: worker files that hook-worker serves as they
// are, each with its tests. See README.md.
package policies
