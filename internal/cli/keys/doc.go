// Package keys reads the verifier keys that commands take: each as text, or in a file.
package keys
