package pathguard

import (
	"path"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// tarFlags are options of tar without a value, which may be joined with others.
const tarFlags = "ahijJklmnoOpPStvwWxzZ"

// dashed is a tar with dashes: tar -czf x for tar cfz x. It is as it was where other letters
// have a value too.
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

// archives reports whether a tar only reads what it is given, but for the archive.
func archives(c shell.Command) bool {
	makes := output{tarFlags, []string{"-c", "-r", "-u", "--create", "--append", "--update"}}
	return isTar(c) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		joined, next := makes.of(w.Text)
		return joined != "" || next
	}) && shell.Option(c, "--remove-files") == shell.No
}

// containers run programs that see directories of the machine.
var containers = []string{"docker", "podman", "nerdctl"}

// media are programs that are told in front of a file how it is read: text:notes, concat:a.
var media = []string{"magick", "convert", "identify", "mogrify", "composite", "montage", "ffmpeg", "ffprobe", "ffplay"}

// mounted are the files of the machine that a word gives to a container: ~/.ssh of
// ~/.ssh:/s, and of type=bind,src=~/.ssh,dst=/s.
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

// copiedOut is the file in a container that a command copies from there: that it is another
// machine's makes a secret no less of one.
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

// first reports whether a word precedes the other files of a copy.
func first(c shell.Command, w shell.Word) bool {
	at := slices.IndexFunc(c.Args(), func(v shell.Word) bool { return v.Text == "cp" })
	for _, v := range c.Args()[at+1:] {
		if !strings.HasPrefix(v.Text, "-") || v.Text == "-" {
			return v.Text == w.Text
		}
	}
	return false
}
