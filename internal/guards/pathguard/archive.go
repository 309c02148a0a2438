package pathguard

import (
	"path"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// tarFlags are options of tar without a value. They may be combined.
const tarFlags = "ahijJklmnoOpPStvwWxzZ"

// dashed returns a tar command with a dash before its options: tar -czf x for tar cfz x. It returns
// other commands unchanged, including a tar with options that take other values.
func dashed(c shell.Command) shell.Command {
	args := c.Args()
	if !isTar(c) || len(args) == 0 || !args[0].Known || strings.Trim(args[0].Text, tarFlags+"cruf") != "" {
		return c
	}
	letters := strings.ReplaceAll(args[0].Text, "f", "")
	if letters != args[0].Text {
		letters += "f"
	}
	c.Words = slices.Clone(c.Words)
	c.Words[1].Text = "-" + letters
	return c
}

func isTar(c shell.Command) bool { return c.Name() == "tar" || c.Name() == "bsdtar" }

// archives reports whether tar only reads its operands, because it creates or extends an archive.
func archives(c shell.Command) bool {
	makes := output{tarFlags, []string{"-c", "-r", "-u", "--create", "--append", "--update"}}
	return isTar(c) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		joined, next := makes.of(w.Text)
		return joined != "" || next
	}) && shell.Option(c, "--remove-files") == shell.No
}

// containers are programs that can make directories of the host visible in a container.
var containers = []string{"docker", "podman", "nerdctl"}

// media are programs whose operands may have a prefix that tells how to read the file: text:notes,
// concat:a.
var media = []string{"magick", "convert", "identify", "mogrify", "composite", "montage", "ffmpeg", "ffprobe", "ffplay"}

// mounted returns the host paths that a word mounts in a container: ~/.ssh for ~/.ssh:/s and for
// type=bind,src=~/.ssh,dst=/s.
func mounted(text string) (all []string, readonly bool) {
	for part := range strings.SplitSeq(text, ",") {
		key, value, named := strings.Cut(part, "=")
		if !named {
			key, value = "src", part
		}
		host, rest, _ := strings.Cut(value, ":")
		if len(host) == 1 && strings.Trim(host, "~/.") != "" && rest != "" { // a drive
			path, behind, _ := strings.Cut(rest, ":")
			host, rest = host+":"+path, behind
		}
		if (key == "src" || key == "source") && host != text {
			all = append(all, host)
		}
		readonly = readonly || part == "ro" || part == "readonly" || strings.HasSuffix(rest, ":ro")
	}
	return all, readonly
}

// copiedOut returns the file that a command copies out of a container. A secret on another machine
// is still a secret.
func copiedOut(c shell.Command) (w shell.Word, found bool) {
	if !slices.Contains(containers, c.Name()) && c.Name() != "docker-compose" || !slices.Contains(c.Verbs(2), "cp") {
		return w, false
	}
	for _, w := range c.Args() {
		if place, file, named := strings.Cut(w.Text, ":"); named && !strings.ContainsAny(place, "/.") && !strings.HasPrefix(place, "-") {
			return shell.Word{Text: path.Join("/", file), Known: w.Known, Glob: w.Glob}, place != "" && first(c, w)
		}
	}
	return w, false
}

// first reports whether a word is the first operand of a copy.
func first(c shell.Command, w shell.Word) bool {
	at := slices.IndexFunc(c.Args(), func(v shell.Word) bool { return v.Text == "cp" })
	for _, v := range c.Args()[at+1:] {
		if !strings.HasPrefix(v.Text, "-") || v.Text == "-" {
			return v.Text == w.Text
		}
	}
	return false
}
