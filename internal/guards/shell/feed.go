package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// feed is the standard input of a command.
type feed struct {
	text  string
	known bool
	from  []string // names of the commands that write it
	of    string   // description for people
	file  string   // whose content it is, if known
	names []Word   // files that it lists, if known
}

// writes reports whether a redirection writes to other commands: > >(…)
func writes(r *syntax.Redirect) bool {
	if r.Word == nil || len(r.Word.Parts) == 0 || slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.DplIn, syntax.WordHdoc}, r.Op) {
		return false
	}
	p, is := r.Word.Parts[0].(*syntax.ProcSubst)
	return is && p.Op == syntax.CmdOut
}

// redirect adds a redirection to the context of a command, as a file or as its input.
func (s source) redirect(r *syntax.Redirect, ctx *context) {
	if writes(r) {
		return // not a file
	}
	if r.Word != nil {
		s.walk(r.Word, context{feed: ctx.feed})
	}
	input := r.N == nil || r.N.Value == "0"
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		s.hereDocument(r, input, ctx)
		return
	}
	w := s.words([]*syntax.Word{r.Word})[0]
	switch r.Op {
	case syntax.WordHdoc:
		if input {
			ctx.feed = &feed{text: w.Text, known: w.Known, from: w.Runs, of: w.Text}
		}
		ctx.redirects = append(ctx.redirects, Redirect{Here: w})
	case syntax.DplIn, syntax.DplOut:
		ctx.mixed = ctx.mixed || r.Op == syntax.DplOut
		if !w.Known || strings.Trim(w.Text, "0123456789-") != "" {
			ctx.redirects = append(ctx.redirects, Redirect{File: w, Write: r.Op == syntax.DplOut})
		}
		if input && (r.N != nil || r.Op == syntax.DplIn) {
			ctx.feed = &feed{from: w.Runs, of: "what comes in by the descriptor " + clip(w.Text)}
		}
	case syntax.RdrIn, syntax.RdrInOut:
		ctx.redirects = append(ctx.redirects, Redirect{File: w, Write: r.Op == syntax.RdrInOut})
		if input {
			ctx.feed = &feed{from: w.Runs, of: "the content of " + clip(w.Text)}
			if w.plain() && !isDescriptor(w.Text) {
				ctx.feed.file = w.Text
			}
		}
	default:
		ctx.redirects = append(ctx.redirects, Redirect{File: w, Write: true})
	}
}

// hereDocument adds a here-document. input is true if it is the command's standard input.
func (s source) hereDocument(r *syntax.Redirect, input bool, ctx *context) {
	if r.Hdoc == nil {
		if input {
			ctx.feed = &feed{known: true}
		}
		return
	}
	s.walk(r.Hdoc, context{feed: ctx.feed})
	text, known := s.document(r.Hdoc, strings.ContainsAny(s.sourceOf(r.Word), `'"\`))
	if r.Op == syntax.DashHdoc {
		text = leadingTabs.ReplaceAllString(text, "")
	}
	if input {
		ctx.feed = &feed{text: text, known: known, of: "a text with variables"}
	}
	ctx.redirects = append(ctx.redirects, Redirect{Here: Word{Text: text, Known: known}})
}

var leadingTabs = regexp.MustCompile(`(?m)^\t+`)

// piped returns the input that commands write into a pipe.
func (s source) piped(commands []Command) *feed {
	f := &feed{of: "what a pipe brings"}
	commands = commands[max(0, len(commands)-maxBraces):]
	for _, c := range commands {
		f.from = append(f.from, c.Name())
	}
	text, known := document(commands)
	if !known {
		text, known = printedText(commands)
	}
	switch {
	case known && !s.declares && len(s.aliases) == 0: // echo, printf and cat are not redefined
		f.text, f.known = text, true
	case len(commands) > 0:
		first := len(commands)
		for first > 1 && filters(commands[first-1]) {
			first--
		}
		if first == 1 {
			f.names = listed(commands[0])
		}
		f.of = "what " + clip(commands[len(commands)-1].Name()) + " prints"
	}
	return f
}

// document returns the text of a here-document if a lone cat is what prints it.
func document(commands []Command) (string, bool) {
	if len(commands) != 1 || commands[0].Name() != "cat" || len(commands[0].Words) != 1 || len(commands[0].Redirects) != 1 {
		return "", false
	}
	here := commands[0].Redirects[0].Here
	return here.Text, here.Known && here.Text != ""
}

// filters reports whether a command only drops or reorders the lines that it reads.
func filters(c Command) bool {
	switch c.Name() {
	case "head", "tail", "sort", "uniq":
		return len(c.Redirects) == 0 && !slices.ContainsFunc(c.Args(), func(w Word) bool { return !w.Known || !lineCount.MatchString(w.Text) })
	}
	return false
}

var lineCount = regexp.MustCompile(`^(-[a-zA-Z]{0,3}|-?[0-9]+|-n[0-9]+)$`)
