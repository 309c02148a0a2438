// Package strictyaml reads small YAML files that people write, such as rules, and reports errors
// with line and column.
//
// It supports mappings with string keys, lists and scalars. It does not convert types: an unquoted
// number, time or boolean is rejected where a string is expected. It also reads JSON, which is
// YAML.
//
// All functions are safe for concurrent use.
package strictyaml
