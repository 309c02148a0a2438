// Package strictyaml reads small YAML files that people write, such as rules, and says
// at which line and column something is wrong with them.
//
// It reads the syntax only: mappings with texts for keys, lists, and texts. Nothing is
// converted, so what looks like a number, a time or a truth value is refused where a text
// must stand. JSON is YAML, and read too.
//
// Everything here may be called concurrently.
package strictyaml
