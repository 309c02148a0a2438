package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// requester contains the options of an HTTP client: those of any request, those of a request that
// only reads, and those that still send the request to its address only. Any other option may send
// a file, use another protocol, or name a proxy, another address for a host, or a file with more
// options.
type requester struct{ all, reading, staying shell.Options }

var requesters = map[string]requester{
	"curl": {
		all: shell.Options{Values: "AbcDeHmoruwXyYzt", Flags: "#0123468aBfgIijkLlMNOpRSsvZ", Long: `request= header= output= output-dir= max-time= connect-timeout= user= user-agent= cookie= cookie-jar= referer= write-out= retry= retry-delay= retry-max-time= cacert= limit-rate= dump-header= range=
			stderr= trace= trace-ascii= max-filesize= keepalive-time= max-redirs= oauth2-bearer= silent show-error fail fail-with-body fail-early location head insecure compressed verbose no-buffer
			no-progress-meter progress-bar http1.0 http1.1 http2 http2-prior-knowledge globoff ipv4 ipv6 remote-name remote-header-name create-dirs retry-connrefused retry-all-errors raw parallel path-as-is
			tcp-nodelay no-keepalive basic digest anyauth include version help get`},
		reading: shell.Options{Values: "C", Long: `capath= continue-at= speed-limit= speed-time= proto= proto-redir= tls-max= ciphers= dns-servers= etag-save= time-cond= url= parallel-max= http3 remote-name-all remote-time ssl-reqd tlsv1.0 tlsv1.1
			tlsv1.2 tlsv1.3 junk-session-cookies show-headers remove-on-error no-clobber manual`},
		staying: shell.Options{Values: "dFT", Flags: "GJnq", Long: "data= data-raw= data-binary= data-ascii= data-urlencode= json= form= form-string= upload-file= url-query= expect100-timeout="},
	},
	"wget": {
		all: shell.Options{Values: "OoaPtTwU", Flags: "qcNvd46S", Long: `header= method= output-document= output-file= append-output= directory-prefix= timeout= tries= wait= user-agent= user= password= save-cookies= load-cookies= waitretry= quiet no-verbose verbose
			server-response spider content-on-error no-check-certificate show-progress no-cache retry-connrefused debug`},
		reading: shell.Options{Values: "lARDIX", Flags: "rpkKEHLnbxmhV", Long: `level= accept= reject= accept-regex= reject-regex= domains= exclude-domains= include-directories= exclude-directories= cut-dirs= limit-rate= progress= max-redirect= ca-certificate= secure-protocol=
			referer= quota= default-page= connect-timeout= read-timeout= dns-timeout= recursive mirror no-parent convert-links page-requisites adjust-extension continue timestamping no-clobber no-host-directories
			no-directories force-directories span-hosts https-only random-wait content-disposition trust-server-names background relative no-hsts inet4-only inet6-only version help no-proxy`},
		staying: shell.Options{Long: "post-data= post-file= body-data= body-file="},
	},
}

var (
	// methods are those that only read.
	methods = strings.Fields("GET HEAD OPTIONS")
	// scheme matches the beginning of a URL, and schemes those that the guard allows.
	scheme  = regexp.MustCompile(`^[^/?#]*:/`)
	schemes = regexp.MustCompile(`^(https?|ftps?)://|^file://[^\[{]*$|^[\w.-]+(:\d+)?/`)
	// cookieFile matches the name of a cookie file.
	cookieFile = regexp.MustCompile(`(?i)(cookie|jar|\.txt$)`)
	// hostPattern matches an address in which curl expands the host, which may then be any.
	hostPattern = regexp.MustCompile(`^[a-zA-Z]+:/+([^/?#]*\{|[^/?#\[]+\[|\[\w-)|^[\d.]*\.[{\[]|^[{\[][\w,-]+[}\]]\.`)
	// guessedProtocol matches host names from which curl infers a mail or directory protocol.
	guessedProtocol = regexp.MustCompile(`(?i)^(dict|ldap|imap|smtp|pop3)\.`)
)

// fetchesOnly reports whether curl or wget only read, or connect to this machine only, with the
// usual protocols.
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

// sendsData reports whether curl or wget send more than a request for a page. An unknown value may
// be any data that the line has read.
func sendsData(c shell.Command) bool {
	known := requesters[c.Name()]
	for a := range known.all.With(known.reading).In(c.Args()) {
		switch {
		case !a.Known:
			return true
		case len(a.Text) < 2, a.Name == "", a.Text == "--":
		case a.Text == "-e" && c.Name() == "wget" && len(a.Rest) > 0 && a.Rest[0].Text == "robots=off":
		case !a.Listed, a.Value.Text != "" && !a.Value.Known:
			return true
		case !a.Takes:
		case (a.Name == "-X" && c.Name() == "curl" || a.Name == "--request" || a.Name == "--method") && !slices.Contains(methods, a.Value.Text),
			(a.Name == "-b" || a.Name == "--cookie") && !strings.Contains(a.Value.Text, "=") && !cookieFile.MatchString(a.Value.Text),
			(a.Name == "-H" || a.Name == "--header") && strings.HasPrefix(a.Value.Text, "@"):
			return true
		}
	}
	return false
}

// speaksToItself reports whether every address given to curl or wget is certainly on this machine,
// and no option redirects the request. One local address does not make up for another one.
func speaksToItself(c shell.Command) bool {
	known, asked := requesters[c.Name()], false
	for a := range known.all.With(known.staying).In(c.Args()) {
		switch {
		case a.Many || a.Glob && !strings.Contains(a.Text, "://"): // no file has such a name
			return false
		case len(a.Text) < 2 || a.Name == "":
			if !addresses.Loopback(a.Text) || othersServer.MatchString(a.Text) {
				return false
			}
			asked = true
		case !a.Listed || !a.Joined && (a.Value.Many || a.Value.Glob):
			return false
		}
	}
	return asked
}

// othersPorts are the well-known ports of servers that projects use.
const othersPorts = "22|53|80|443|2375|2376|2379|3306|4222|5432|5672|5984|6222|6379|6443|8086|8200|8222|8500|9092|9200|10250|27017"

var othersServer = regexp.MustCompile(`^(https?://)?[^/]*:(2375|2376|2379|5984|6443|8086|8200|8500|9200|10250)(/|$)`)

var (
	// Harmless options of HTTPie and xh, and of grpcurl; grpcValues take a value.
	httpOptions = regexp.MustCompile(`^(-[jfhbvFISd]+|--(json|form|headers|body|verbose|follow|check-status|ignore-stdin|stream|download|offline|(pretty|print|style|timeout)=\w+))$`)
	grpcOptions = regexp.MustCompile(`^--?(plaintext|v|vv|emit-defaults|allow-unknown-fields|use-reflection|format=\w+|max-time=\d+)$`)
	grpcValues  = shell.Options{Long: "-d= -H= -rpc-header= -max-time= -format= -proto= -import-path="}

	httpVerb = regexp.MustCompile(`^[A-Za-z]+$`)
	ownPort  = regexp.MustCompile(`^:\d*(/|$)`)
)

// speaksHere returns a check for programs whose first operand, or second after an HTTP method, is
// the address. The check passes if that is on this machine and every option is known.
func speaksHere(options *regexp.Regexp, valued shell.Options) func(shell.Command) bool {
	return func(c shell.Command) bool {
		var operands []shell.Word
		for a := range valued.In(c.Args()) {
			switch {
			case a.Takes && !a.Joined:
			case a.Name == "":
				operands = append(operands, a.Word)
			case !options.MatchString(a.Text):
				return false
			}
		}
		if len(operands) > 1 && httpVerb.MatchString(operands[0].Text) && !addresses.Loopback(operands[0].Text) {
			operands = operands[1:]
		}
		return len(operands) > 0 && (addresses.Loopback(operands[0].Text) || ownPort.MatchString(operands[0].Text)) && hasLiteralArguments(c)
	}
}
