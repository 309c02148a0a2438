package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/addresses"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	query   = regexp.MustCompile(`(?i)^(-[ce]|--command=|--execute=)?\s*(select|show|describe|desc|explain|with|values|table|pragma|\\[dl]|\.(tables|schema|indexes|headers|mode|databases))`)
	changes = regexp.MustCompile(`(?i)\\gexec\b|\b(drop|truncate|delete|update|insert|alter|create|grant|revoke|copy|into|call|do|execute|vacuum|reindex|set|reset|lock|attach|load|replace|merge|rename|kill|shutdown|flush|purge|pg_\w*(file|terminate|cancel|reload|ls)\w*|lo_\w+|dblink\w*|load_file|outfile|dumpfile|pg_shadow|pg_authid|pg_user_mappings?|authentication_string)\b`)
)

var (
	// rolledBack matches a transaction that ends with a rollback.
	rolledBack = regexp.MustCompile(`(?is)^(?:begin|start\s+transaction)\s*;(.*;)\s*rollback\s*;\s*$`)
	// outlasts matches statements whose effect may survive a rollback.
	outlasts = regexp.MustCompile(`(?i)\\|\b(commit|end|rollback|copy|call|do|vacuum|drop|truncate|grant|revoke|setval|nextval|listen|notify|set|reset|load|pg_\w+|lo_\w+|dblink\w*|prepare|execute)\b`)
)

// setsRows matches the beginning of an UPDATE, whose SET does not set a variable.
var setsRows = regexp.MustCompile(`(?i)\bupdate\s+[\w."]+\s+set\b`)

// listsDatabases matches psql -l, and -lqt.
var listsDatabases = regexp.MustCompile(`^(-[qtAX]*l[qtAX]*|--list)$`)

var showsCreate = regexp.MustCompile(`(?i)\bshow\s+create\s`)

// sqlComment matches a comment line.
var sqlComment = regexp.MustCompile(`(?m)^\s*--.*$`)

// queriesOnly reports whether a database is only queried: at least one text is a query, and none
// changes anything. A script of the project may run if the database is on this machine.
func queriesOnly(c shell.Command) bool {
	if c.Name() == "sqlite3" && ofScratch(c) {
		return true
	}
	asked := false
	texts := slices.Clone(c.Args())
	for _, r := range c.Redirects {
		switch {
		case r.Write:
		case r.Here.Text == "":
			return runsScript(c, r.File)
		default:
			if r.Here.Text = strings.TrimSpace(sqlComment.ReplaceAllString(r.Here.Text, "")) + " "; !r.Here.Known {
				return false
			}
			if m := rolledBack.FindStringSubmatch(r.Here.Text); m != nil && c.Name() == "psql" && !outlasts.MatchString(setsRows.ReplaceAllString(m[1], "")) {
				asked = true
				continue
			}
			texts = append(texts, r.Here)
		}
	}
	for i, w := range texts {
		if w.Text == "-f" && c.Name() == "psql" && i+1 < len(c.Args()) {
			return runsScript(c, texts[i+1])
		}
		asked = asked || query.MatchString(w.Text) || listsDatabases.MatchString(w.Text)
		if changes.MatchString(showsCreate.ReplaceAllString(w.Text, "show ")) && strings.ContainsAny(w.Text, " \t\n;") || !w.Known && strings.Contains(w.Text, "$(") {
			return false
		}
	}
	return asked
}

// scratchFile matches a temporary database.
var scratchFile = regexp.MustCompile(`^(/tmp/[\w-][\w.-]*\.(db|sqlite3?)|:memory:)$`)

// ofScratch reports whether a command uses a temporary database only.
func ofScratch(c shell.Command) bool {
	words := operands(c)
	return len(words) > 1 && words[0].Known && scratchFile.MatchString(words[0].Text) && !slices.ContainsFunc(words[1:], func(w shell.Word) bool {
		return !w.Known || strings.HasPrefix(w.Text, ".") || leavesScratch.MatchString(w.Text)
	}) && len(c.Redirects) == 0
}

var leavesScratch = regexp.MustCompile(`(?i)\b(attach|vacuum|load_extension|readfile|writefile|edit)\b|\n\s*\.`)

var harsh = regexp.MustCompile(`(?i)drop|wipe|trunc|delete|purge|destroy|clean|reset|nuke|prod|rollback|down\b|/dev/`)

// runsScript reports whether a script is in the project, its name does not suggest harm, and the
// database is on this machine.
func runsScript(c shell.Command, file shell.Word) bool {
	if !file.Known || !strings.HasSuffix(file.Text, ".sql") || !ownFile(file.Text, c.Dirs) || harsh.MatchString(file.Text) {
		return false
	}
	named := false
	return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		host := named
		named = w.Text == "-h" || w.Text == "--host"
		value, joined := strings.CutPrefix(w.Text, "--host=")
		if value, short := strings.CutPrefix(w.Text, "-h"); short && value != "" {
			return !addresses.Loopback(value)
		}
		return !w.Known || harsh.MatchString(w.Text) || changes.MatchString(w.Text) && strings.ContainsAny(w.Text, " ;") || (host || joined || addresses.Names(w.Text)) && !addresses.Loopback(value)
	})
}
