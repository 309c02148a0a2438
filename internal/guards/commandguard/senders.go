package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// resolvesGivenNames reports whether a DNS client looks up only names in its arguments, none from a
// file or standard input.
func resolvesGivenNames(c shell.Command) bool {
	return hasLiteralArguments(c) && !c.MayHave("-f", "-k") && len(c.Redirects) == len(outputs(c.Redirects))
}

func outputs(all []shell.Redirect) []shell.Redirect {
	return slices.DeleteFunc(slices.Clone(all), func(r shell.Redirect) bool { return !r.Write })
}

// namesOther reports whether a word contains a URL of another machine.
func namesOther(w shell.Word) bool {
	return slices.ContainsFunc(namedURL.FindAllString(w.Text, -1), func(url string) bool {
		return !addresses.Loopback(url) && !strings.HasPrefix(url, "file://")
	})
}

// loadsLocalhost reports whether a load tester targets only this machine.
func loadsLocalhost(c shell.Command) bool {
	args := c.Args()
	return hasLiteralArguments(c) && !slices.ContainsFunc(args, namesOther) && !c.MayHave("-x", "-X") &&
		(c.Name() == "k6" || len(args) == 0 || strings.HasPrefix(args[0].Text, "-") && len(args) == 1 || addresses.Loopback(args[len(args)-1].Text))
}

// captures and captureFilter match the devices and filters with which ffmpeg captures the screen or
// the microphone.
var (
	captures      = regexp.MustCompile(`(?i)^(x11grab|xcbgrab|gdigrab|dshow|vfwcap|avfoundation|kmsgrab|fbdev|v4l2|video4linux2?|alsa|pulse|jack|oss|sndio|openal|decklink|iec61883|android_camera)$`)
	captureFilter = regexp.MustCompile(`(?i)\b(ddagrab|gfxcapture)\b`)
	// screen matches ImageMagick's names for the display and the clipboard.
	screen = regexp.MustCompile(`(?i)^(x|screenshot|clipboard):`)
)

// showsNoScreen reports whether ImageMagick reads only files, not the display.
func showsNoScreen(c shell.Command) bool {
	args := c.Args()
	return (len(args) == 0 || args[0].Text != "import") && !slices.ContainsFunc(args, func(w shell.Word) bool { return screen.MatchString(w.Text) })
}

// convertsLocally reports whether ffmpeg captures nothing and writes only to this machine. It may
// read from elsewhere.
func convertsLocally(c shell.Command) bool {
	for i, w := range c.Args() {
		if i > 0 && c.Args()[i-1].Text == "-f" && (!w.Known || captures.MatchString(w.Text)) || captureFilter.MatchString(w.Text) {
			return false
		}
		if namesOther(w) && (i == 0 || c.Args()[i-1].Text != "-i") || w.Text == "-method" || w.Text == "-post_data" {
			return false
		}
	}
	return true
}

// textFile matches a text document, or standard input.
var textFile = regexp.MustCompile(`^(-|[\w./-]+\.(md|markdown|txt))$`)

// writesOwnRepository reports whether gh and glab write only to the project's own repository, and
// write only literal text, a text document or public output.
func writesOwnRepository(c shell.Command) bool {
	told := c.Verbs(2)
	if len(told) < 2 || !slices.Contains([]string{"pr", "issue", "mr"}, told[0]) || !slices.Contains(strings.Fields("create comment edit review note update"), told[1]) {
		return true
	}
	for a := range (shell.Options{Long: "-F= --body-file="}).Each(c.Args()) {
		switch {
		case a.Name == "--repo", strings.HasPrefix(a.Text, "-R"):
			return false
		case a.Takes && !textFile.MatchString(a.Value.Text), !a.Takes && strings.HasPrefix(a.Name, "-F"):
			return false
		case !a.Known && strings.ContainsAny(publicOutput.ReplaceAllLiteralString(a.Text, ""), "`(<"):
			return false
		}
	}
	return true
}

var approving = regexp.MustCompile(`^-[rc]*a|^--approve`)

// approvesChange reports whether gh approves a pull request, which only a person may do.
func approvesChange(c shell.Command) bool {
	return slices.Equal(c.Verbs(2), []string{"pr", "review"}) && c.AnyArg(approving.MatchString)
}

// publicOutput matches substitutions whose output people read anyway: a text document, or
// information of git about commits.
var publicOutput = regexp.MustCompile(`\$\((cat [\w./-]+\.(md|markdown|txt)|(git (log|rev-parse|branch|describe|shortlog)|date)( [\w.,:=%/~^@+'"-]+)*)\)`)

// addressTells reports whether the address of another machine contains the output of a command, or
// what looks like data, and so leaks it.
func addressTells(c shell.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		made := !w.Known && len(w.Runs) > 0 && addresses.Names(w.Text)
		return (made || dataInAddress.MatchString(w.Text)) && !addresses.Loopback(w.Text)
	})
}

// dataInAddress matches an address with a long run of letters and digits in the host, the path or a
// query value, except for hexadecimal digests in a query. A query parameter may also be named like
// a secret.
var dataInAddress = regexp.MustCompile(`(?i)^[a-z]+://([^/?#]*\.)?[a-z0-9]{40,63}\.|^[a-z]+://\S*/[a-z0-9+_=%]{80,}` +
	`|^[a-z]+://\S*[?&#]([\w.-]*(secret|token|passw|api_?key|access_?key)[\w.-]*=[^&\s$<{]{16,}|[\w.-]+=(%[0-9a-f]{2}|[a-z0-9])*[g-z](%[0-9a-f]{2}|[a-z0-9]){31,})`)

// asking are verbs that are followed by names to look up in a registry.
var asking = strings.Fields("install i add get download view info show search exec x dlx create init docs repo why update upgrade")

// namesTell reports whether a name to look up in a registry contains the output of a command, and
// so leaks it.
func namesTell(c shell.Command) bool {
	fetcher := slices.Contains([]string{"npx", "uvx", "bunx", "pipx"}, c.Name())
	return (fetcher || c.Does(2, asking)) &&
		slices.ContainsFunc(upToProgram(c).Args(), func(w shell.Word) bool { return !w.Known && len(w.Runs) > 0 })
}
