package completion

import (
	"fmt"
	"strings"
)

// function returns the name of the completion function of a program.
func function(program string) string { return "_" + strings.ReplaceAll(program, "-", "_") }

func (t table) bash(program string) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("%s() {", function(program))
	p(`	local path="" word cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"`)
	p(`	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`)
	p(`		case "$path/$word" in`)
	t.each(func(parent, name string) { p(`		"%s/%s") path="${path:+$path }$word" ;;`, parent, name) })
	p(`		esac`)
	p(`	done`)
	p(`	case "$path/$prev" in`)
	for _, v := range t.values {
		p(`	"%s/%s") COMPREPLY=($(compgen -W "%s" -- "$cur")); return ;;`, v.path, v.flag, v.words)
	}
	p(`	esac`)
	p(`	case "$path" in`)
	for _, l := range t.levels {
		p(`	"%s") COMPREPLY=($(compgen -W "%s" -- "$cur")) ;;`, l.path, strings.Join(l.words, " "))
	}
	p(`	esac`)
	p(`}`)
	p(`complete -o default -F %s %s`, function(program), program)
	return b.String()
}

func (t table) fish(program string) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("function _%s", function(program))
	p(`	set -l words (commandline -opc)`)
	p(`	set -l prev $words[-1]`)
	p(`	set -l path ''`)
	p(`	for word in $words[2..]`)
	p(`		switch "$path/$word"`)
	t.each(func(parent, name string) {
		p(`			case '%s/%s'`, parent, name)
		p(`				set path (string trim "$path $word")`)
	})
	p(`		end`)
	p(`	end`)
	p(`	switch "$path/$prev"`)
	for _, v := range t.values {
		p(`		case '%s/%s'`, v.path, v.flag)
		p(`			string split ' ' '%s'`, v.words)
		p(`			return`)
	}
	p(`	end`)
	p(`	switch "$path"`)
	for _, l := range t.levels {
		p(`		case '%s'`, l.path)
		p(`			string split ' ' -- '%s'`, strings.Join(l.words, " "))
	}
	p(`	end`)
	p(`end`)
	p(`complete -c %s -a '(_%s)'`, program, function(program))
	return b.String()
}
