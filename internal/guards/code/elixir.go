package code

import (
	"regexp"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var elixir = &language{
	syntax: syntax{comments: []string{"#"}, quotes: `'"`, lines: true, fields: map[byte]string{'"': "#{", '\'': "#{"}, names: regexp.MustCompile(`^@?[A-Za-z_]\w*[?!]?`)},
	unread: regexp.MustCompile("`|~[a-zA-Z]|\"\"\"|'''|\\?['\"#\\\\]|:\"|:[a-z_]\\w*\\."),
	refused: wordset.Of(`eval Port Code Node Mix Process Application Kernel EEx IEx GenServer Task Agent Supervisor apply spawn spawn_link send exec to_atom to_existing_atom query query! HTTPoison Req Tesla Finch Mint Path Config Macro Module quote unquote
		defmacro use require Function capture put_env get_env fetch_env Swoosh Oban`),
	reached: true, bare: true,
	check: (*reader).checkElixir,
	forms: map[string]func(*reader, int) (int, bool){"System": (*reader).elixirSystem, "File": (*reader).elixirFile, "import": (*reader).elixirImport},
}

var (
	// erlang are modules of Erlang with effects beyond the program.
	erlang      = wordset.Of("os file erlang init inet gen_tcp gen_udp ssl httpc ssh rpc code application net_kernel prim_file filelib filename c shell io_lib ets dets disk_log erl_scan erl_parse erl_eval zip peer slave ct_slave beam_lib compile")
	elixirTells = wordset.Of("halt stop version otp_release schedulers schedulers_online build_info monotonic_time system_time os_time unique_integer")
	elixirReads = wordset.Of("read! read exists? stream! stat! regular? dir?")
)

// checkElixir rejects such modules of Erlang, which are atoms.
func (r *reader) checkElixir(i int) bool { return r.at(i-1).kind != ':' || !erlang[r.at(i).value] }

// elixirSystem parses functions of System that reveal no secrets.
func (r *reader) elixirSystem(i int) (more int, ok bool) {
	return 2, r.at(i+1).kind == '.' && elixirTells[r.at(i+2).value]
}

// elixirImport parses import Ecto.Query. The functions of other modules are unknown.
func (r *reader) elixirImport(i int) (more int, ok bool) {
	return 3, r.is(i+1, "Ecto") && r.at(i+2).kind == '.' && r.is(i+3, "Query")
}

// elixirFile parses File.read!("name"). A stream may be written to.
func (r *reader) elixirFile(i int) (more int, ok bool) {
	name, ok := r.text(i + 4)
	r.opens(name, r.is(i+2, "stream!"))
	return 4, ok && r.at(i+1).kind == '.' && elixirReads[r.at(i+2).value] && r.at(i+3).kind == '('
}
