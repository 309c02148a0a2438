package paths

import "testing"

func TestThroughLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		resolved string
		leaves   bool
	}{
		"/var/run/../etc/shadow":                  {"/etc/shadow", true},
		"/tmp/../var/run/./../etc/shadow":         {"/etc/shadow", true},
		"/var/lock/../../home/ann/.oci/config":    {"/home/ann/.oci/config", true},
		"/dev/fd/../environ":                      {"/proc/self/environ", true},
		"/dev/fd/../root/etc/shadow":              {"/etc/shadow", true},
		"/proc/self/root/../etc/shadow":           {"/etc/shadow", true},
		"/proc/thread-self/../../root/etc/shadow": {"/etc/shadow", true},
		"/bin/../share/x":                         {"/usr/share/x", true},
		"/proc/1/cwd/../.env":                     {"", true},
		"/proc/1/cwd/a/../../.env":                {"", true},
		"/proc/1/fd/3/../x":                       {"", true},
		"/bin/x/../ls":                            {"", false},
		"/var/run/x/../docker.sock":               {"", false},
		"/repo/bin/../x":                          {"", false},
		"/var/run/docker.sock":                    {"", false},
		"../var/run/../x":                         {"", false},
	} {
		resolved, leaves := throughLinks(text)
		if resolved != want.resolved || leaves != want.leaves {
			t.Errorf("%s: %q, %t; want %+v", text, resolved, leaves, want)
		}
	}
}
