// Package verifierkeys reads the verifier keys that commands take, as text or from files.
package verifierkeys
