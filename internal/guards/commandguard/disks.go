package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// disk matches a device with a file system, or the memory of the machine.
var disk = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md|dm-|mapper/|loop|sr|nbd|zd|mem|kmem|port)`)

// formatters create file systems and partitions. With one of these options they only print, as all
// of them do with --help and --version.
var formatters = map[string][]string{
	"mkdosfs": nil, "mkntfs": nil, "mke2fs": {"-n", "-V"}, "mkfs.ext2": {"-n", "-V"}, "mkfs.ext3": {"-n", "-V"}, "mkfs.ext4": {"-n", "-V"}, "mkfs.xfs": {"-N", "-V"}, "mkfs.btrfs": {"-V"}, "mkfs.f2fs": {"-V"},
	"mkswap": {"-V", "-h"}, "newfs": {"-N"}, "blkdiscard": {"-V", "-h"}, "cfdisk": {"-V", "-h"}, "gdisk": {"-l"}, "sgdisk": {"-V"}, "parted": {"-l", "--list", "-v", "-h"},
	"fdisk": {"-l", "--list", "-V", "-h"}, "sfdisk": {"-l", "--list", "-n", "--no-act", "-d", "--dump", "-J", "--json", "-v", "-h"}, "wipefs": {"-n", "--no-act", "-V", "-h"},
}

// overwriters are programs that write to a disk only with one of these options.
var overwriters = map[string][]string{
	"badblocks": {"-w"},
	"hdparm":    {"--yes-i-know-what-i-am-doing", "--please-destroy-my-drive", "--security-erase*", "--sanitize*", "--trim-sector*", "--write-sector", "--repair-sector", "--make-bad-sector", "--fwdownload*"},
}

// output matches the part of a word before the name of an output file, as of dd or a download.
var output = regexp.MustCompile(`^(h?of=|--?[a-z-]*=|-\w*[oO])`)

func writesDisk(c shell.Command) shell.Found {
	for _, r := range c.Redirects {
		if r.Write && isDisk(r.File) {
			return shell.Yes
		}
	}
	name := c.Name()
	if _, formats := formatters[name]; formats || strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return formatted(c)
	}
	if options, writes := overwriters[name]; writes {
		return shell.FoundIf(slices.ContainsFunc(c.Args(), isDisk) && slices.ContainsFunc(options, func(o string) bool { return shell.Option(c, o) != shell.No }))
	}
	switch name {
	case "diskutil":
		for _, w := range c.Args() {
			if strings.HasPrefix(strings.ToLower(w.Text), "erase") || strings.EqualFold(w.Text, "partitionDisk") {
				return shell.Yes
			}
		}
	case "dd", "dcfldd", "dc3dd":
		return written(c)
	case "curl", "wget", "fetch", "aria2c", "http", "https", "xh":
		return shell.FoundIf(written(c) == shell.Yes || slices.ContainsFunc(c.Args(), isDisk))
	case "cp", "install", "ddrescue", "dd_rescue": // the first operand is only read
		words := operands(c)
		return shell.FoundIf(slices.ContainsFunc(words[min(1, len(words)):], isDisk))
	case "mv", "tee", "shred", "truncate", "sponge":
		return shell.FoundIf(slices.ContainsFunc(c.Args(), isDisk))
	}
	return shell.No
}

func isDisk(w shell.Word) bool { return disk.MatchString(path.Clean(w.Text)) }

// formatted returns Yes unless a formatter only prints.
func formatted(c shell.Command) shell.Found {
	looks := append([]string{"--help", "--version"}, formatters[c.Name()]...)
	return shell.FoundIf(!c.Has(looks...))
}

// written finds a disk that dd writes.
func written(c shell.Command) shell.Found {
	found := shell.No
	for _, w := range c.Args() {
		before := output.FindString(w.Text)
		w.Text = w.Text[len(before):]
		switch {
		case before != "" && isDisk(w):
			return shell.Yes
		case !w.Known && (before != "" || strings.HasPrefix(w.Text, "$")):
			found = shell.Maybe
		}
	}
	return found
}
