//go:build !unix

package identity

func checkOwner(string) error { return nil }

func giveToOwner(string) error { return nil }
