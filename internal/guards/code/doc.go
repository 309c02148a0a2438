// Package code says what a piece of code in a scripting language reaches, without running it.
//
// [Read] is given what agents write behind python -c, node -e and the like. Whatever reaches
// further than the program itself has a name: eval, os.system, fs.rmSync, File.delete. Code that
// has none of these names, and no way to come by one that it does not have, computes and prints;
// it may also do what the code of the project and its libraries does. The files, addresses and
// commands that it names in full are returned, so that they are judged as if a line of shell had
// them. Code that can't be told from what reaches further is not read.
//
// Everything here is a pure function of its arguments, bounded by [MaxCode].
package code
