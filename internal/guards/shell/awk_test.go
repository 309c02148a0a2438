package shell

import "testing"

func TestRunsAwk(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`BEGIN{print "rm -rf ~;" | "sh"}`:                      true,
		`BEGIN{print "a}b" > "x"}`:                             true,
		`/"/{print "a;" | "sh"}`:                               true,
		`/[/"]/{print "a;" | "sh"} /[/"]/`:                     true,
		`BEGIN{x++ /1; print "a;" | "sh"; y=1/1}`:              true,
		`BEGIN{if(1) /"/; print "a;" | "sh"}`:                  true,
		"BEGIN{print \"}\" # \"\n; print \"a;\" | \"sh\"}":     true,
		`BEGIN{ARGV[1]="/x";ARGC=2}1`:                          true,
		`BEGIN{split("/x",ARGV,",")}1`:                         true,
		`BEGIN{for(i in SYMTAB["ENV" "IRON"])print i}`:         true,
		`{print $1; if ($2 > 3) n++} END {print n}`:            false,
		`/^\/api\// {print $2 " " $3/2}`:                       false,
		`FILENAME==ARGV[1]{a[$1];next} $1 in a`:                false,
		`BEGIN{printf "a;b|c\n"} # print "x" | "sh" is a word`: true, // an accepted false positive
	} {
		if got := runsAwk(code); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}
