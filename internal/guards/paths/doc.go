// Package paths compares paths of an agent's machine with patterns, by their text
// alone: the worker that judges them may run on another machine. So links are not
// followed; .. and . are taken out, and what is relative is found from where the
// agent is.
//
// A pattern is a glob: * and ? stay within a name, ** is any directories, {a,b} are
// alternatives. It begins with /, a drive (C:/), ~/ or **/. A ~ is every home
// directory, since it is unknown whose agent it is: ~/.ssh/** has /home/eve/.ssh/id,
// /root/.ssh and C:\Users\eve\.ssh. A pattern that ends with /** has the directory
// itself too.
package paths
