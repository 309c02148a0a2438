package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// reading has the options of curl and wget with which they ask a server for a page, and send it no
// more than that: an unknown option may send a file, or use another protocol.
var reading = map[string]requester{
	"curl": {
		values: "AbCcDeHmoruwXyYzt", flags: "#0123468aBfgIijkLlMNOpRSsvZ",
		longValues: strings.Fields(`request header output output-dir max-time connect-timeout user user-agent cookie cookie-jar referer write-out retry retry-delay retry-max-time cacert capath limit-rate
			dump-header range stderr trace trace-ascii max-filesize keepalive-time max-redirs oauth2-bearer continue-at speed-limit speed-time proto proto-redir tls-max ciphers dns-servers etag-save time-cond url parallel-max`),
		longFlags: strings.Fields(`silent show-error fail fail-with-body fail-early location head insecure compressed verbose no-buffer no-progress-meter progress-bar http1.0 http1.1 http2 http3
			http2-prior-knowledge globoff ipv4 ipv6 remote-name remote-name-all remote-header-name remote-time create-dirs retry-connrefused retry-all-errors raw parallel path-as-is tcp-nodelay no-keepalive basic digest anyauth
			ssl-reqd tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 junk-session-cookies include show-headers remove-on-error no-clobber version help manual get`),
	},
	"wget": {
		values: "OoaPtTwUlARDIX", flags: "qcNvd46SrpkKEHLnbxmhVd",
		longValues: strings.Fields(`header method output-document output-file append-output directory-prefix timeout tries wait user-agent user password save-cookies load-cookies waitretry level accept reject
			accept-regex reject-regex domains exclude-domains include-directories exclude-directories cut-dirs limit-rate progress max-redirect ca-certificate secure-protocol referer quota default-page connect-timeout read-timeout dns-timeout`),
		longFlags: strings.Fields(`quiet no-verbose verbose server-response spider content-on-error no-check-certificate show-progress no-cache retry-connrefused debug recursive mirror no-parent convert-links page-requisites adjust-extension
			continue timestamping no-clobber no-host-directories no-directories force-directories span-hosts https-only random-wait content-disposition trust-server-names background relative no-hsts inet4-only inet6-only version help no-proxy`),
	},
}

var (
	// methods only read.
	methods = strings.Fields("GET HEAD OPTIONS")
	// scheme is what an address begins with, and schemes those by which pages are read.
	scheme  = regexp.MustCompile(`^[^/?#]*:/`)
	schemes = regexp.MustCompile(`^(https?|ftps?)://|^file://[^\[{]*$|^[\w.-]+(:\d+)?/`)
	// cookieFile is a file of cookies.
	cookieFile = regexp.MustCompile(`(?i)(cookie|jar|\.txt$)`)
	// hostPattern is the host of an address that curl fills in: it may be any.
	hostPattern = regexp.MustCompile(`^[a-zA-Z]+:/+([^/?#]*\{|[^/?#\[]+\[|\[\w-)|^[\d.]*\.[{\[]|^[{\[][\w,-]+[}\]]\.`)
	// guessedProtocol are names of hosts by which curl takes a protocol that mail and directories speak.
	guessedProtocol = regexp.MustCompile(`(?i)^(dict|ldap|imap|smtp|pop3)\.`)
)

// fetchesOnly reports whether curl or wget only read, or speak to this machine alone, by the protocols
// of pages.
func fetchesOnly(c shell.Command) bool {
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		address := strings.TrimPrefix(w.Text, "--url=")
		if strings.Contains(address, " ") {
			return false // a header
		}
		if c.Name() == "curl" && hostPattern.MatchString(address) {
			return true
		}
		return scheme.MatchString(address) && !strings.HasPrefix(address, "-") && !schemes.MatchString(address) || guessedProtocol.MatchString(address)
	}) && (!sendsData(c) || speaksToItself(c))
}

// sendsData reports whether curl or wget send more than a request for a page. What is not known
// may be anything that the line has read.
func sendsData(c shell.Command) bool {
	known := reading[c.Name()]
	for args := c.Args(); len(args) > 0; args = args[1:] {
		w := args[0]
		if !w.Known {
			return true
		}
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text == "--" {
			continue
		}
		if w.Text == "-e" && c.Name() == "wget" && len(args) > 1 && args[1].Text == "robots=off" {
			args = args[1:]
			continue
		}
		valued, ok := known.option(w.Text)
		value := ""
		if valued && len(args) > 1 {
			value, args = args[1].Text, args[1:]
			if !args[0].Known {
				return true
			}
		}
		name, joined := known.names(w.Text)
		switch value += joined; {
		case !ok,
			(name == "X" && c.Name() == "curl" || name == "request" || name == "method") && !slices.Contains(methods, value),
			(name == "b" || name == "cookie") && !strings.Contains(value, "=") && !cookieFile.MatchString(value),
			(name == "H" || name == "header") && strings.HasPrefix(value, "@"):
			return true
		}
	}
	return false
}

// names is the option with a value that a word is or ends with, and a value in the same word.
func (r requester) names(text string) (name, joined string) {
	if long, is := strings.CutPrefix(text, "--"); is {
		name, joined, _ = strings.Cut(long, "=")
		return name, joined
	}
	if at := strings.IndexAny(text, r.values); at > 0 {
		return text[at : at+1], text[at+1:]
	}
	return "", ""
}

// requester is what is known of the options of a program that sends requests: letters and
// names of those with a value, and of those without.
type requester struct {
	values, flags         string
	longValues, longFlags []string
}

// requesters have the options that leave a request where its address says: none names a
// proxy, another address for a name, or a file with more options.
var requesters = map[string]requester{
	"curl": {
		values: "AbcDdeFHmoruTwXyYzt", flags: "#0123468aBfGgIijJkLlMNnOpqRSsvZ",
		longValues: strings.Fields(`request header data data-raw data-binary data-ascii data-urlencode json form form-string output output-dir max-time connect-timeout user user-agent cookie cookie-jar
			referer write-out retry retry-delay retry-max-time cacert upload-file url-query limit-rate dump-header range stderr trace trace-ascii max-filesize expect100-timeout keepalive-time max-redirs oauth2-bearer`),
		longFlags: strings.Fields(`silent show-error fail fail-with-body fail-early location include head get insecure compressed verbose no-buffer no-progress-meter progress-bar http1.0 http1.1 http2
			http2-prior-knowledge globoff ipv4 ipv6 remote-name remote-header-name create-dirs retry-connrefused retry-all-errors raw parallel path-as-is tcp-nodelay no-keepalive basic digest anyauth version help`),
	},
	"wget": {
		values: "OoaPtTwU", flags: "qcNvd46S",
		longValues: strings.Fields("post-data post-file body-data body-file header method output-document output-file append-output directory-prefix timeout tries wait user-agent user password save-cookies load-cookies waitretry"),
		longFlags:  strings.Fields("quiet no-verbose verbose server-response spider content-on-error no-check-certificate show-progress no-cache retry-connrefused debug"),
	},
}

// speaksToItself reports whether each address that curl or wget are given is certainly of
// this machine, and no option leads elsewhere: one local address does not make up for
// another one.
func speaksToItself(c shell.Command) bool {
	known, asked := requesters[c.Name()], false
	for args := c.Args(); len(args) > 0; args = args[1:] {
		w := args[0]
		valued, ok := known.option(w.Text)
		switch {
		case w.Many || w.Glob && !strings.Contains(w.Text, "://"): // no file has such a name
			return false
		case len(w.Text) < 2 || w.Text[0] != '-':
			if !addresses.Loopback(w.Text) || othersServer.MatchString(w.Text) {
				return false
			}
			asked = true
		case !ok || valued && (len(args) < 2 || args[1].Many || args[1].Glob):
			return false
		case valued:
			args = args[1:]
		}
	}
	return asked
}

// othersPorts are the well-known ports of servers that projects use.
const othersPorts = "22|53|80|443|2375|2376|2379|3306|4222|5432|5672|5984|6222|6379|6443|8086|8200|8222|8500|9092|9200|10250|27017"

var othersServer = regexp.MustCompile(`^(https?://)?[^/]*:(2375|2376|2379|5984|6443|8086|8200|8500|9200|10250)(/|$)`)

// option reports whether an option is known, and whether its value is the next word.
func (r requester) option(text string) (valued, ok bool) {
	if name, long := strings.CutPrefix(text, "--"); long {
		name, _, joined := strings.Cut(name, "=")
		valued = slices.Contains(r.longValues, name)
		return valued && !joined, valued || slices.Contains(r.longFlags, name)
	}
	for i, letter := range strings.TrimPrefix(text, "-") {
		switch {
		case strings.ContainsRune(r.values, letter):
			return i+len("-")+1 == len(text), true
		case !strings.ContainsRune(r.flags, letter):
			return false, false
		}
	}
	return false, true
}

var (
	// Options of HTTPie and xh, and of grpcurl, that lead nowhere else, the last with values.
	httpOptions = regexp.MustCompile(`^(-[jfhbvFISd]+|--(json|form|headers|body|verbose|follow|check-status|ignore-stdin|stream|download|offline|(pretty|print|style|timeout)=\w+))$`)
	grpcOptions = regexp.MustCompile(`^--?(plaintext|v|vv|emit-defaults|allow-unknown-fields|use-reflection|format=\w+|max-time=\d+)$`)
	grpcValues  = strings.Fields("-d -H -rpc-header -max-time -format -proto -import-path")

	httpVerb = regexp.MustCompile(`^[A-Za-z]+$`)
	ownPort  = regexp.MustCompile(`^:\d*(/|$)`)
)

// speaksHere reports of a program whose first operand is the address, behind a method at the
// most, whether that is of this machine, and every option known.
func speaksHere(options *regexp.Regexp, values []string) func(shell.Command) bool {
	return func(c shell.Command) bool {
		var operands []shell.Word
		value := false
		for _, w := range c.Args() {
			switch {
			case value:
				value = false
			case slices.Contains(values, w.Text):
				value = true
			case !strings.HasPrefix(w.Text, "-"):
				operands = append(operands, w)
			case !options.MatchString(w.Text):
				return false
			}
		}
		if len(operands) > 1 && httpVerb.MatchString(operands[0].Text) && !addresses.Loopback(operands[0].Text) {
			operands = operands[1:]
		}
		return len(operands) > 0 && (addresses.Loopback(operands[0].Text) || ownPort.MatchString(operands[0].Text)) && hasLiteralArguments(c)
	}
}
