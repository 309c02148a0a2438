package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// line is one line of the terminal.
type line struct {
	typed bool // by a person: animated letter by letter
	parts []part
}

// part is text with a list of style classes: b for bold, d for dim, and r, g, y, l, m, c for
// colors.
type part struct {
	text, class string
}

func (l line) plain() string {
	var b strings.Builder
	for _, p := range l.parts {
		b.WriteString(p.text)
	}
	return b.String()
}

var (
	style  = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	escape = regexp.MustCompile("\x1b(\\[[0-9;?]*[A-Za-z]|\\][^\x07]*\x07|[()].)")
	colors = map[string]string{
		"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "l", "35": "m", "36": "c",
		"91": "r", "92": "g", "93": "y", "94": "l", "95": "m", "96": "c",
	}
)

// parse splits a line of terminal output by its styles. It drops all other escape sequences.
func parse(text string) (parts []part) {
	class := ""
	for text != "" {
		at := style.FindStringSubmatchIndex(text)
		chunk, codes := text, ""
		if at != nil {
			chunk, codes, text = text[:at[0]], text[at[2]:at[3]], text[at[1]:]
		} else {
			text = ""
		}
		if chunk = escape.ReplaceAllString(chunk, ""); chunk != "" {
			parts = append(parts, part{chunk, strings.TrimSpace(class)})
		}
		if at == nil {
			break
		}
		for code := range strings.SplitSeq(codes, ";") {
			if c, known := colors[code]; known {
				class += " " + c
			} else {
				class = ""
			}
		}
	}
	return parts
}

// The size of the picture, in its own units.
const (
	advance, leading = 8.4, 19.0
	left, top        = 18.0, 26.0
)

// Timing of the animation, in seconds.
const (
	perLetter, afterCommand, perLine, afterOutput = 0.03, 0.4, 0.03, 1.8
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]g %[2]g" width="%[1]g" height="%[2]g" role="img" aria-labelledby="t">
<title id="t">%[3]s</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dbe0;white-space:pre}
.b{font-weight:bold;fill:#fff}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.l{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}
.o{animation:o .01s both}.k{animation:k both}
@keyframes o{from{opacity:0}to{opacity:1}}
@keyframes k{from{clip-path:inset(0 100%% 0 0)}to{clip-path:inset(0 0 0 0)}}
@media (prefers-reduced-motion:reduce){.o,.k{animation:none}}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
`

// draw returns an SVG animation of a session. The last frame shows the whole session, for printing,
// for late viewers, and for viewers who disable motion.
func draw(title string, lines []line) string {
	for len(lines) > 0 && len(lines[len(lines)-1].parts) == 0 {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, 2*left+columns*advance, top+leading*float64(len(lines))+6, html.EscapeString(title))
	now := 0.5
	for i, l := range lines {
		if len(l.parts) == 0 {
			continue
		}
		letters := utf8.RuneCountInString(l.plain())
		how := fmt.Sprintf(`class="o" style="animation-delay:%.2fs"`, now)
		if l.typed {
			how = fmt.Sprintf(`class="k" style="animation-delay:%.2fs;animation-duration:%.2fs;animation-timing-function:steps(%d)"`, now, perLetter*float64(letters), letters)
			now += perLetter*float64(letters) + afterCommand
		} else {
			now += perLine
			if i+1 < len(lines) && len(lines[i+1].parts) == 0 && i+2 < len(lines) && lines[i+2].typed {
				now += afterOutput
			}
		}
		fmt.Fprintf(&b, "<text y=\"%g\" %s>", top+leading*float64(i), how)
		column := 0
		for _, p := range l.parts {
			class := ""
			if p.class != "" {
				class = fmt.Sprintf(" class=%q", p.class)
			}
			text := strings.TrimLeft(p.text, " ")
			column += utf8.RuneCountInString(p.text) - utf8.RuneCountInString(text)
			if text = strings.TrimRight(text, " "); text != "" {
				fmt.Fprintf(&b, "<tspan x=\"%.1f\"%s>%s</tspan>", left+float64(column)*advance, class, html.EscapeString(text))
			}
			column += utf8.RuneCountInString(strings.TrimLeft(p.text, " "))
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
