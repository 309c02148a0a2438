// Package code determines the effects of code in a scripting language, without running it.
//
// [Read] analyzes what agents pass to python -c, node -e and the like. Everything with effects
// beyond the program itself has a name: eval, os.system, fs.rmSync, File.delete. Code that contains
// none of these names, and no way to construct one, only computes and prints, or does what the
// project's own code and its libraries do. The files, addresses and commands that it names
// literally are returned, so that guards evaluate them like those of a shell command. Code that
// cannot be distinguished from code with other effects is rejected.
//
// All functions are pure, and bounded by [MaxCode].
package code
