package natscontext

import (
	"os"
	"os/user"
	"strconv"
)

// OwnHome is this user's home directory as the user database names it, whatever the environment
// says; empty where the database does not know the user.
func OwnHome() string {
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return ""
	}
	return me.HomeDir
}

// FindBelow is [Find], which looks below a home directory first: variables count only where that
// has no context.
func FindBelow(home string, getenv func(string) string, servers, role string) (c Context, ok bool, err error) {
	if home != "" {
		c, ok, err = Find(homeOnly(home), servers, role)
	}
	if ok || err != nil {
		return c, ok, err
	}
	return Find(getenv, servers, role)
}

// homeOnly is an environment that holds just a home directory.
func homeOnly(dir string) func(string) string {
	return func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}
}
