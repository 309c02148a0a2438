// Package paths matches paths of an agent's machine against patterns. It compares text only,
// because the worker may run on another machine. It does not follow the agent's links; it removes
// .. and . elements and resolves relative paths from the agent's directory.
//
// A pattern is a glob: * and ? match within a name, ** matches any directories, {a,b} are
// alternatives. It begins with /, a drive (C:/), ~/ or **/. ~ means every home directory, because
// the agent's user is unknown: ~/.ssh/** matches /home/eve/.ssh/id, /root/.ssh and
// C:\Users\eve\.ssh. A pattern that ends with /** also matches the directory itself.
package paths
