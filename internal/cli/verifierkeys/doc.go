// Package verifierkeys reads the verifier keys that commands take: each as text, or in a file.
package verifierkeys
