package natscontext

import (
	"os"
	"os/user"
	"strconv"
)

// OwnHome returns this user's home directory according to the user database, regardless of the
// environment; empty if the database does not have the user.
func OwnHome() string {
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return ""
	}
	return me.HomeDir
}

// FindBelow is like [Find], but looks below a home directory first. Environment variables are used
// only if there is no context.
func FindBelow(home string, getenv func(string) string, servers, role string) (c Context, ok bool, err error) {
	if home != "" {
		c, ok, err = Find(homeOnly(home), servers, role)
	}
	if ok || err != nil {
		return c, ok, err
	}
	return Find(getenv, servers, role)
}

// homeOnly returns an environment with only HOME.
func homeOnly(dir string) func(string) string {
	return func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}
}
