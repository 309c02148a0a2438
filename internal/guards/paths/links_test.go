package paths

import "testing"

func TestBehindLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		place string
		left  bool
	}{
		"/var/run/../etc/shadow":                  {"/etc/shadow", true},
		"/tmp/../var/run/./../etc/shadow":         {"/etc/shadow", true},
		"/var/lock/../../home/ann/.oci/config":    {"/home/ann/.oci/config", true},
		"/dev/fd/../environ":                      {"/proc/self/environ", true},
		"/dev/fd/../root/etc/shadow":              {"/etc/shadow", true},
		"/proc/self/root/../etc/shadow":           {"/etc/shadow", true},
		"/proc/thread-self/../../root/etc/shadow": {"/etc/shadow", true},
		"/proc/1/cwd/../.env":                     {"", true},
		"/proc/1/cwd/a/../../.env":                {"", true},
		"/proc/1/fd/3/../x":                       {"", true},
		"/bin/../share/x":                         {"/usr/share/x", true},
		"/bin/x/../ls":                            {"/usr/bin/ls", false},
		"/var/run/x/../docker.sock":               {"/run/docker.sock", false},
		"/repo/bin/../x":                          {"/repo/x", false},
		"/var/run/docker.sock":                    {"", false},
		"../var/run/../x":                         {"", false},
	} {
		place, left := behindLinks(text)
		if place != want.place || left != want.left {
			t.Errorf("%s: %q, %t; want %+v", text, place, left, want)
		}
	}
}
